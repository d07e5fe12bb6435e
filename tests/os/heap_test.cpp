// With the allocator of the C library here, and with jemalloc in tests/sim.
#include "traffic/os/heap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "traffic/core/process.h"

namespace traffic::os {
namespace {

TEST(Heap, FreedMemoryGoesBackToTheSystem) {
  constexpr std::size_t kBlocks = std::size_t{1} << 18;
  constexpr std::size_t kBlockBytes = 256;
  std::vector<std::unique_ptr<char[]>> blocks(kBlocks);
  for (auto& block : blocks) block = std::make_unique<char[]>(kBlockBytes);
  const auto last = std::make_unique<char[]>(kBlockBytes);  // the heap cannot simply end earlier
  const std::int64_t held = rss_bytes();
  for (auto& block : blocks) block.reset();
  return_free_memory();
  EXPECT_LT(rss_bytes(), held - static_cast<std::int64_t>(kBlocks * kBlockBytes * 3 / 4));
}

}  // namespace
}  // namespace traffic::os
