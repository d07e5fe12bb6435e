// Controls the memory allocator of this process: jemalloc if it is linked, else that of glibc.
#include "traffic/os/heap.h"

#include <malloc.h>
#include <sys/types.h>

#include <cstddef>
#include <string>

// mallctl() belongs to jemalloc; its address is null if jemalloc is not linked.
extern "C" {
__attribute__((weak)) int mallctl(const char* name, void* old_value, std::size_t* old_size,
                                  void* new_value, std::size_t new_size);
/// Options that jemalloc reads when the program starts. A thread's cache returns unused memory each
/// time that a certain number of bytes has been allocated. This option sets the number to a
/// terabyte, so that it is never reached. Otherwise the addresses of objects would depend on how
/// much the process had allocated before.
extern const char* malloc_conf;
const char* malloc_conf = "tcache_gc_incr_bytes:1099511627776";
}

namespace traffic::os {
namespace {

template <typename T>
void set(const std::string& name, T value) {
  mallctl(name.c_str(), nullptr, nullptr, &value, sizeof(value));
}

}  // namespace

void return_free_memory() {
  constexpr const char* kPurgeAllArenas = "arena.4096.purge";  // MALLCTL_ARENAS_ALL
  if (mallctl != nullptr) {
    mallctl(kPurgeAllArenas, nullptr, nullptr, nullptr, 0);
  } else {
    malloc_trim(0);
  }
}

void begin_anew() {
  if (mallctl == nullptr) return;
  unsigned arena = 0;
  std::size_t size = sizeof(arena);
  if (mallctl("arenas.create", &arena, &size, nullptr, 0) != 0) return;
  // -1: never return freed memory after a delay, because addresses would then depend on the clock.
  set("arena." + std::to_string(arena) + ".dirty_decay_ms", ssize_t{-1});
  set("thread.tcache.enabled", false);  // empties the thread's cache
  set("thread.arena", arena);
  set("thread.tcache.enabled", true);
}

}  // namespace traffic::os
