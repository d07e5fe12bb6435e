// This program uses the allocator of the C library; tests/sim runs the same tests with jemalloc.
#include "traffic/os/heap.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "traffic/core/process.h"
#include "traffic/os/child_process.h"

namespace traffic::os {
namespace {

TEST(Heap, FreedMemoryGoesBackToTheSystem) {
  constexpr std::size_t kBlocks = std::size_t{1} << 18;
  constexpr std::size_t kBlockBytes = 256;
  std::vector<std::unique_ptr<char[]>> blocks(kBlocks);
  for (auto& block : blocks) block = std::make_unique<char[]>(kBlockBytes);
  // Stays allocated, so that the heap cannot simply shrink at its end.
  const auto last = std::make_unique<char[]>(kBlockBytes);
  const std::int64_t held = rss_bytes();
  for (auto& block : blocks) block.reset();
  return_free_memory();
  EXPECT_LT(rss_bytes(), held - static_cast<std::int64_t>(kBlocks * kBlockBytes * 3 / 4));
}

/// Blocks of many sizes, some freed again before others are made: holes of all sizes are left.
using Blocks = std::vector<std::unique_ptr<char[]>>;
Blocks make_blocks(std::size_t count) {
  Blocks blocks;
  for (std::size_t i = 0; i < count; ++i) {
    blocks.push_back(std::make_unique<char[]>(16 + i * 7919 % 500));
    if (i % 3 == 0) blocks[i * 31 % blocks.size()].reset();
  }
  return blocks;
}

/// A one-byte hash of the order in memory of the blocks that a child process allocates.
/// @param before number of blocks that this process allocates before it forks the child
int order_in_child(std::size_t before) {
  const Blocks held = make_blocks(before);
  const auto body = [] {
    begin_anew();
    const Blocks blocks = make_blocks(20000);
    std::uint64_t hash = 14695981039346656037U;
    const char* last = nullptr;
    for (const auto& block : blocks) {
      if (block == nullptr) continue;
      hash = (hash ^ static_cast<std::uint64_t>(std::less<>()(last, block.get()))) * 1099511628211U;
      last = block.get();
    }
    return static_cast<int>((hash ^ hash >> 32U) & 0xffU);
  };
  return ChildProcess::fork(body).wait().code();
}

// Some results of SUMO depend on the order of its objects in memory (docs/design/decisions.md).
TEST(Heap, TheOrderInMemoryDoesNotDependOnEarlierBlocks) {
  if (dlsym(RTLD_DEFAULT, "mallctl") == nullptr) GTEST_SKIP() << "not linked to jemalloc";
  const int order = order_in_child(0);
  for (const std::size_t before : {10, 1000, 30000}) EXPECT_EQ(order_in_child(before), order);
}

}  // namespace
}  // namespace traffic::os
