// A pool that keeps the memory of destroyed tensors for new tensors, and the scratch memory of each
// thread.
#include "buffer_pool.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/model/memory.h"

namespace traffic::model {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kAlignment = 64;
constexpr int kStepsOfPower = 8;  ///< number of size classes for each power of two

/// Header before the memory of each tensor. give_back() gets only the address of the memory and
/// reads its size here.
struct alignas(kAlignment) MemoryHead {
  std::size_t bytes;  ///< size of the memory after the header

  static MemoryHead* of(void* memory) { return static_cast<MemoryHead*>(memory) - 1; }
  void* memory() { return this + 1; }
};

/// Rounds a size up, so that there are at most eight sizes from one power of two to the next.
/// Tensors of similar sizes then reuse each other's memory.
std::size_t rounded(std::size_t bytes) {
  bytes = std::max(bytes, kAlignment);
  const std::size_t least = bytes < kHugePage ? kAlignment : kHugePage;
  const std::size_t step = std::max(least, std::bit_floor(bytes) / kStepsOfPower);
  return (bytes + step - 1) / step * step;
}

/// Index of the list in Pool::idle_ that has memory of this size.
/// @param bytes a rounded size
std::size_t class_of(std::size_t bytes) {
  const int power = static_cast<int>(std::bit_width(bytes)) - 1;
  const std::size_t eighth =
      (bytes >> (power - std::countr_zero(0U + kStepsOfPower))) - kStepsOfPower;
  return static_cast<std::size_t>(power) * kStepsOfPower + eighth;
}

/// Allocates memory from the system.
/// @param bytes a rounded size
void* get_memory(std::size_t bytes) {
  const std::size_t all = bytes + sizeof(MemoryHead);
  void* p = nullptr;
  if (bytes < kHugePage) {
    p = std::aligned_alloc(kAlignment, all);
  } else {
    p = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) p = nullptr;
    // Asks for huge pages, which cause fewer page faults. The kernel may refuse.
    if (p != nullptr) madvise(p, all, MADV_HUGEPAGE);
  }
  if (p == nullptr) {
    throw ResourceError("out of memory: {} bytes for a tensor; use a smaller batch_size", bytes);
  }
  return (new (p) MemoryHead{bytes})->memory();
}

void drop_memory(void* memory) {
  MemoryHead* head = MemoryHead::of(memory);
  if (head->bytes < kHugePage) {
    std::free(head);
  } else {
    munmap(head, head->bytes + sizeof(MemoryHead));
  }
}

/// Keeps memory that no tensor uses, sorted by size class.
class Pool final : public c10::Allocator {
 public:
  static Pool& instance() {
    static Pool* pool = new Pool;  // never destroyed: tensors may outlive every static object
    return *pool;
  }

  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, c10::kCPU};
    void* memory = take(rounded(bytes));
    return {memory, memory, &give_back, c10::kCPU};
  }

  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &give_back; }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

  std::size_t release() {
    const std::scoped_lock lock(mutex_);
    std::size_t total = 0;
    for (auto& of_class : idle_) {
      for (void* memory : of_class) {
        total += MemoryHead::of(memory)->bytes;
        drop_memory(memory);
      }
      of_class.clear();
    }
    return total;
  }

 private:
  void* take(std::size_t bytes) {
    {
      const std::scoped_lock lock(mutex_);
      auto& of_class = idle_[class_of(bytes)];
      if (!of_class.empty()) {
        void* memory = of_class.back();
        of_class.pop_back();
        return memory;
      }
    }
    return get_memory(bytes);
  }

  static void give_back(void* memory) {
    if (memory == nullptr) return;
    Pool& pool = instance();
    const std::scoped_lock lock(pool.mutex_);
    pool.idle_[class_of(MemoryHead::of(memory)->bytes)].push_back(memory);
  }

  std::mutex mutex_;
  /// [class_of(size)]: unused memory of this size.
  std::array<std::vector<void*>, 64 * kStepsOfPower> idle_;
};

/// The scratch memory of one thread: blocks that are used in order, from the first.
struct ThreadScratch {
  std::vector<at::Tensor> blocks;
  std::size_t block = 0;  ///< index of the block in use
  std::size_t used = 0;   ///< bytes of this block that are taken
};
thread_local ThreadScratch thread_scratch;

}  // namespace

template <typename T>
at::Tensor pooled_empty(at::IntArrayRef sizes) {
  return at::detail::empty_generic(sizes, &Pool::instance(),
                                   c10::DispatchKeySet(at::DispatchKey::CPU), kScalarType<T>,
                                   std::nullopt);
}
template at::Tensor pooled_empty<float>(at::IntArrayRef);
template at::Tensor pooled_empty<kernels::Bf16>(at::IntArrayRef);

Scratch::Scratch() : block_(thread_scratch.block), used_(thread_scratch.used) {}

Scratch::~Scratch() {
  thread_scratch.block = block_;
  thread_scratch.used = used_;
}

void* Scratch::take_bytes(std::size_t bytes) {
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  while (thread_scratch.block < thread_scratch.blocks.size() &&
         thread_scratch.used + bytes > thread_scratch.blocks[thread_scratch.block].nbytes()) {
    ++thread_scratch.block;
    thread_scratch.used = 0;
  }
  if (thread_scratch.block == thread_scratch.blocks.size()) {
    const std::size_t size = std::max(bytes, 2 * kHugePage);
    thread_scratch.blocks.push_back(
        pooled_empty<float>({static_cast<std::int64_t>(size / sizeof(float))}));
    thread_scratch.used = 0;
  }
  auto* start = static_cast<std::byte*>(thread_scratch.blocks[thread_scratch.block].data_ptr());
  void* p = start + thread_scratch.used;
  thread_scratch.used += bytes;
  return p;
}

void pool_all_tensors() { c10::SetCPUAllocator(&Pool::instance()); }

std::int64_t release_cached_memory() {
  return static_cast<std::int64_t>(Pool::instance().release());
}

}  // namespace traffic::model
