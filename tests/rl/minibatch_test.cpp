#include "traffic/rl/minibatch.h"

#include <gtest/gtest.h>

#include "helpers.h"
#include "traffic/core/error.h"
#include "traffic/rl/schedule.h"

namespace traffic::rl {
namespace {

TEST(Minibatches, ContainEveryStateOnceInPartsOfEqualSize) {
  const std::vector<torch::Tensor> parts = permuted_minibatches(103, 8, 1);
  ASSERT_EQ(parts.size(), 8U);
  for (const torch::Tensor& part : parts) {
    EXPECT_GE(part.numel(), 12);
    EXPECT_LE(part.numel(), 13);
  }
  const torch::Tensor sorted = std::get<0>(torch::cat(parts).sort());
  EXPECT_TRUE(torch::equal(sorted, torch::arange(103)));
}

TEST(Minibatches, DependOnTheSeed) {
  const torch::Tensor first = torch::cat(permuted_minibatches(50, 4, 1));
  EXPECT_TRUE(torch::equal(first, torch::cat(permuted_minibatches(50, 4, 1))));
  EXPECT_FALSE(torch::equal(first, torch::cat(permuted_minibatches(50, 4, 2))));
  EXPECT_FALSE(torch::equal(first, torch::arange(50)));
}

TEST(Minibatches, HaveTheSameNumberOnEveryRank) {
  EXPECT_EQ(permuted_minibatches(2, 5, 1).size(), 5U);
  EXPECT_EQ(permuted_minibatches(0, 5, 1).size(), 5U);
}

TEST(Minibatches, EveryStateIsEquallyLikelyToComeFirst) {
  constexpr int kSeeds = 3000;
  torch::Tensor counts = torch::zeros({5}, torch::kFloat64);
  for (int seed = 0; seed < kSeeds; ++seed) {
    const torch::Tensor order = permuted_minibatches(5, 1, static_cast<std::uint64_t>(seed))[0];
    counts[order[0].item<std::int64_t>()] += 1;
  }
  const double expected = kSeeds / 5.0;
  const double chi_square = ((counts - expected).square() / expected).sum().item<double>();
  EXPECT_LT(chi_square, 18.47);  // exceeded by chance in 0.1 % of cases (4 degrees of freedom)
}

TEST(Minibatches, NumberFollowsFromTheStatesOfAllRanks) {
  EXPECT_EQ(count_minibatches(4000, 128), 32);
  EXPECT_EQ(count_minibatches(128, 128), 1);
  EXPECT_EQ(count_minibatches(0, 128), 1);
  EXPECT_THROW(count_minibatches(10, 0), ConfigError);
}

TEST(LinearSchedule, GoesFromStartToEndAndStaysThere) {
  const LinearSchedule falling{.start = 3e-4, .end = 1e-4};
  EXPECT_EQ(falling.at(0.0), 3e-4);
  EXPECT_DOUBLE_EQ(falling.at(0.5), 2e-4);
  EXPECT_EQ(falling.at(1.0), 1e-4);
  EXPECT_EQ(falling.at(1.5), 1e-4);
  EXPECT_EQ(falling.at(-1.0), 3e-4);
  EXPECT_EQ(LinearSchedule::constant(0.01).at(0.3), 0.01);
}

}  // namespace
}  // namespace traffic::rl
