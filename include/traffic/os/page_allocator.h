/// Allocators for std::vector that give large arrays memory pages of their own, or huge pages.
/// Small arrays use the general allocator.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace traffic::os {

/// Gives each array memory pages of its own, for arrays that are often allocated and freed under a
/// memory limit. The pages return to the system when the array is freed. The general allocator
/// would keep freed blocks, up to twice the memory in use.
struct OwnPages {
  /// Smaller arrays use the general allocator.
  static constexpr std::size_t kLarge_bytes = std::size_t{1} << 20;
  /// @throws std::bad_alloc
  static void* allocate(std::size_t bytes);
  static void deallocate(void* memory, std::size_t bytes) noexcept;
};

/// Gives arrays huge pages, which reduce TLB misses when an array is read in random order.
struct HugePages {
  /// Smaller arrays use the general allocator.
  static constexpr std::size_t kLarge_bytes = std::size_t{2} << 20;
  /// @throws std::bad_alloc
  static void* allocate(std::size_t bytes);
  static void deallocate(void* memory, std::size_t bytes) noexcept;
};

/// Allocator for std::vector.
/// @tparam Pages OwnPages or HugePages; allocates the arrays of Pages::kLarge_bytes or more
template <typename T, typename Pages>
struct PageAllocator {
  using value_type = T;

  PageAllocator() = default;
  template <typename U>
  explicit PageAllocator(const PageAllocator<U, Pages>& /*other*/) {}

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    return static_cast<T*>(bytes < Pages::kLarge_bytes ? ::operator new(bytes)
                                                       : Pages::allocate(bytes));
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    const std::size_t bytes = n * sizeof(T);
    if (bytes < Pages::kLarge_bytes) {
      ::operator delete(memory);
    } else {
      Pages::deallocate(memory, bytes);
    }
  }
  bool operator==(const PageAllocator& /*other*/) const { return true; }
};

template <typename T>
using PageVector = std::vector<T, PageAllocator<T, OwnPages>>;
template <typename T>
using HugePageVector = std::vector<T, PageAllocator<T, HugePages>>;

}  // namespace traffic::os
