#include "traffic/os/heap.h"

#include <malloc.h>

#include <cstddef>

/// jemalloc's, where it is linked.
extern "C" __attribute__((weak)) int mallctl(const char* name, void* old_value,
                                             std::size_t* old_size, void* new_value,
                                             std::size_t new_size);

namespace traffic::os {

void return_free_memory() {
  constexpr const char* kPurgeAllArenas = "arena.4096.purge";  // MALLCTL_ARENAS_ALL
  if (mallctl != nullptr) {
    mallctl(kPurgeAllArenas, nullptr, nullptr, nullptr, 0);
  } else {
    malloc_trim(0);
  }
}

}  // namespace traffic::os
