// Allocates large arrays on memory pages of their own, or on huge pages.
#include "traffic/os/page_allocator.h"

#include <sys/mman.h>

#include <cstdlib>

namespace traffic::os {

void* OwnPages::allocate(std::size_t bytes) {
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return pages;
}

void OwnPages::deallocate(void* memory, std::size_t bytes) noexcept { ::munmap(memory, bytes); }

void* HugePages::allocate(std::size_t bytes) {
  constexpr std::size_t kPage = kLarge_bytes;
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
  void* memory = std::aligned_alloc(kPage, whole);
  if (memory == nullptr) throw std::bad_alloc();
  ::madvise(memory, whole, MADV_HUGEPAGE);  // the kernel may refuse
  return memory;
}

void HugePages::deallocate(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }

}  // namespace traffic::os
