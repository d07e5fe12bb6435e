#include "traffic/model/memory.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace traffic::model {
namespace {

class TensorMemory : public ::testing::Test {
 protected:
  void SetUp() override { pool_all_tensors(); }
};

TEST_F(TensorMemory, IsReusedByTensorsOfNearlyTheSameSize) {
  const void* first = torch::empty({1000, 64}).data_ptr();  // destroyed at once
  EXPECT_EQ(torch::empty({1010, 64}).data_ptr(), first);
  EXPECT_NE(torch::empty({2000, 64}).data_ptr(), first);
}

TEST_F(TensorMemory, BelongsToOneTensorAtATime) {
  std::set<const void*> used;
  std::vector<torch::Tensor> alive;
  for (std::int64_t i = 0; i < 200; ++i) {
    alive.push_back(torch::full({1 + i * i}, static_cast<double>(i)));
    EXPECT_TRUE(used.insert(alive.back().data_ptr()).second);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(alive.back().data_ptr()) % 64, 0U);
  }
  for (std::int64_t i = 0; i < 200; ++i) {
    EXPECT_TRUE((alive[static_cast<std::size_t>(i)] == static_cast<double>(i)).all().item<bool>());
  }
}

TEST_F(TensorMemory, ReturnsToThePoolFromOtherThreads) {
  // A loader also makes batches for another thread. The memory must not accumulate.
  release_cached_memory();
  for (int round = 0; round < 50; ++round) {
    torch::Tensor batch;
    std::thread([&] { batch = torch::ones({1 << 20}); }).join();
    EXPECT_EQ(batch.sum().item<double>(), 1 << 20);
  }
  const std::int64_t idle = release_cached_memory();
  EXPECT_GE(idle, 4 << 20);
  EXPECT_LT(idle, 3 * (4 << 20));
}

TEST_F(TensorMemory, IsReturnedToTheSystemOnRequest) {
  { const torch::Tensor idle = torch::ones({8 << 20}); }
  EXPECT_GE(release_cached_memory(), 32 << 20);
  EXPECT_EQ(release_cached_memory(), 0);
  EXPECT_EQ(torch::ones({8 << 20}).sum().item<double>(), 8 << 20);
}

TEST_F(TensorMemory, GrowsAndShrinksWithItsTensor) {
  torch::Tensor x = torch::arange(10);
  x.resize_({100000});
  EXPECT_TRUE(torch::equal(x.narrow(0, 0, 10), torch::arange(10)));
  EXPECT_EQ(torch::empty({0}).numel(), 0);
}

TEST_F(TensorMemory, ServesLibrariesThatAllocateByThemselves) {
  // oneDNN, for example, requests plain memory from the allocator.
  at::Allocator* allocator = at::getCPUAllocator();
  void* plain = allocator->raw_allocate(1000);
  std::memset(plain, 1, 1000);
  allocator->raw_deallocate(plain);
  EXPECT_EQ(allocator->allocate(1000).get(), plain);
}

}  // namespace
}  // namespace traffic::model
