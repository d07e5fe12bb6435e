// With the allocator of the C library here, and with jemalloc in tests/sim.
#include "traffic/os/heap.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <vector>

namespace traffic::os {
namespace {

std::int64_t resident_bytes() {
  std::int64_t size = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(Heap, FreedMemoryGoesBackToTheSystem) {
  constexpr std::size_t kBlocks = std::size_t{1} << 18;
  constexpr std::size_t kBlockBytes = 256;
  std::vector<std::unique_ptr<char[]>> blocks(kBlocks);
  for (auto& block : blocks) block = std::make_unique<char[]>(kBlockBytes);
  const auto last = std::make_unique<char[]>(kBlockBytes);  // the heap cannot simply end earlier
  const std::int64_t held = resident_bytes();
  for (auto& block : blocks) block.reset();
  return_free_memory();
  EXPECT_LT(resident_bytes(), held - static_cast<std::int64_t>(kBlocks * kBlockBytes * 3 / 4));
}

}  // namespace
}  // namespace traffic::os
