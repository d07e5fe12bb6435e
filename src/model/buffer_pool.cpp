#include "buffer_pool.h"

#include <ATen/ops/from_blob.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/model/memory.h"

namespace traffic::model {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

void* map_pages(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    throw ResourceError("out of memory: {} bytes for activations; use a smaller batch_size", bytes);
  madvise(p, bytes, MADV_HUGEPAGE);  // only a hint: fewer page faults where the kernel grants it
  return p;
}

/// Blocks that no tensor uses, by size. Sizes are rounded up to an eighth of their power of two, so
/// that batches of slightly different size share blocks.
class Pool {
 public:
  static Pool& instance() {
    static Pool* pool = new Pool;  // never destroyed: tensors may outlive every static object
    return *pool;
  }

  static std::size_t block_bytes(std::size_t bytes) {
    bytes = std::max<std::size_t>(bytes, 1);  // an empty tensor, of a road without vehicles
    const std::size_t step = std::max(kHugePage, std::bit_floor(bytes) / 8);
    return (bytes + step - 1) / step * step;
  }

  void* take(std::size_t bytes) {
    {
      const std::scoped_lock lock(mutex_);
      if (const auto found = free_.find(bytes); found != free_.end()) {
        void* p = found->second;
        free_.erase(found);
        return p;
      }
    }
    return map_pages(bytes);
  }

  void give(void* p, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    free_.emplace(bytes, p);
  }

  std::size_t release() {
    const std::scoped_lock lock(mutex_);
    std::size_t total = 0;
    for (const auto& [bytes, p] : free_) {
      munmap(p, bytes);
      total += bytes;
    }
    free_.clear();
    return total;
  }

 private:
  std::mutex mutex_;
  std::multimap<std::size_t, void*> free_;
};

/// Blocks of one thread's scratch, used from the first on.
struct ThreadScratch {
  std::vector<at::Tensor> blocks;
  std::size_t block = 0;
  std::size_t used = 0;
};
thread_local ThreadScratch thread_scratch;

}  // namespace

template <typename T>
at::Tensor pooled_empty(at::IntArrayRef sizes) {
  std::size_t count = 1;
  for (const std::int64_t size : sizes) count *= static_cast<std::size_t>(size);
  const std::size_t bytes = Pool::block_bytes(count * sizeof(T));
  void* p = Pool::instance().take(bytes);
  return at::from_blob(
      p, sizes, [bytes](void* block) { Pool::instance().give(block, bytes); },
      at::TensorOptions(kScalarType<T>));
}
template at::Tensor pooled_empty<float>(at::IntArrayRef);
template at::Tensor pooled_empty<kernels::Bf16>(at::IntArrayRef);

Scratch::Scratch() : block_(thread_scratch.block), used_(thread_scratch.used) {}

Scratch::~Scratch() {
  thread_scratch.block = block_;
  thread_scratch.used = used_;
}

void* Scratch::take_bytes(std::size_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  while (thread_scratch.block < thread_scratch.blocks.size() &&
         thread_scratch.used + bytes > thread_scratch.blocks[thread_scratch.block].nbytes()) {
    ++thread_scratch.block;
    thread_scratch.used = 0;
  }
  if (thread_scratch.block == thread_scratch.blocks.size()) {
    const std::size_t size = Pool::block_bytes(std::max(bytes, 2 * kHugePage));
    thread_scratch.blocks.push_back(
        pooled_empty<float>({static_cast<std::int64_t>(size / sizeof(float))}));
    thread_scratch.used = 0;
  }
  auto* start = static_cast<std::byte*>(thread_scratch.blocks[thread_scratch.block].data_ptr());
  void* p = start + thread_scratch.used;
  thread_scratch.used += bytes;
  return p;
}

std::int64_t release_cached_memory() {
  return static_cast<std::int64_t>(Pool::instance().release());
}

}  // namespace traffic::model
