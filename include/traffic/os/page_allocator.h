/// Memory for large arrays that come and go within a limit.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace traffic::os {

/// Arrays of a MiB or more get pages of their own, which go back to the system when the array goes.
/// The general allocator keeps what is freed between others: of blocks that come and go up to twice
/// as much as is in use.
template <typename T>
struct PageAllocator {
  using value_type = T;
  static constexpr std::size_t kLarge_bytes = std::size_t{1} << 20;

  PageAllocator() = default;
  template <typename U>
  explicit PageAllocator(const PageAllocator<U>& /*other*/) {}

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    if (bytes < kLarge_bytes) return static_cast<T*>(::operator new(bytes));
    void* pages =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(pages);
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    const std::size_t bytes = n * sizeof(T);
    if (bytes < kLarge_bytes) {
      ::operator delete(memory);
    } else {
      ::munmap(memory, bytes);
    }
  }
  bool operator==(const PageAllocator& /*other*/) const { return true; }
};

template <typename T>
using PageVector = std::vector<T, PageAllocator<T>>;

}  // namespace traffic::os
