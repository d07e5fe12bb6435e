#include "traffic/os/page_allocator.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>

namespace traffic::os {
namespace {

/// Makes a vector that grows: first in memory of the general allocator, then in pages of its own.
template <typename Vector>
Vector grown(std::size_t count) {
  Vector v;
  for (std::size_t i = 0; i < count; ++i) v.push_back(static_cast<typename Vector::value_type>(i));
  return v;
}

template <typename Vector>
void expect_kept(std::size_t count) {
  const auto v = grown<Vector>(count);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(v[i], i);
}

constexpr std::size_t kLarge = std::size_t{1} << 20;  // 4 MiB of std::uint32_t

TEST(PageAllocator, ArraysKeepTheirValuesWhileTheyGrow) {
  expect_kept<PageVector<std::uint32_t>>(kLarge);
  expect_kept<HugePageVector<std::uint32_t>>(kLarge);
}

TEST(PageAllocator, OwnPagesGoBackToTheSystemWithTheArray) {
  unsigned char resident = 0;
  void* at = nullptr;
  {
    PageVector<std::uint32_t> v(kLarge);
    at = v.data();
    EXPECT_EQ(mincore(at, 1, &resident), 0);
  }
  EXPECT_NE(mincore(at, 1, &resident), 0) << "the memory must not be mapped any more";
}

TEST(PageAllocator, HugePagesAreAlignedLikeThoseOfTheSystem) {
  const HugePageVector<std::uint32_t> v(kLarge);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(v.data()) % HugePages::kLarge_bytes, 0);
}

}  // namespace
}  // namespace traffic::os
