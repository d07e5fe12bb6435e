#include <gtest/gtest.h>

#include <array>

#include "train/rollouts/reward.h"

namespace traffic::train {
namespace {

/// A baseline of two episodes.
/// @param growth growth of each conflict in each second, summed over both episodes
Baseline baseline(std::vector<double> growth, std::int64_t conflicts, double demand) {
  return {
      .growth = {.bin_s = 1.0, .conflicts = conflicts, .episodes = 2, .growth = std::move(growth)},
      .expected_demand = demand};
}

TEST(Reward, IsTheGrowthMinusThatOfUncontrolledTraffic) {
  const Reward reward({baseline({2, 2, 2, 2}, 1, 100), baseline({2, 4, 2, 4, 2, 4, 2, 4}, 2, 50)},
                      100.0);
  EXPECT_EQ(reward.conflicts(), 2);
  EXPECT_EQ(reward.duration_s(0), 4.0);
  const std::array<double, 2> growth{3.0, 1.5};
  const std::array<double, 2> of_one{9.0, 9.0};  // not used with a single conflict
  rollout::Period period;
  period.time_s = 3.0;
  period.num_conflicts = 1;
  period.growth = growth;
  period.conflict_growth = of_one;
  EXPECT_EQ(reward(0, period, 1.0), (std::vector<float>{2.5F, 0.0F}));
  const std::array<double, 4> of_two{1.0, 2.0, 3.0, 1.0};
  period.num_conflicts = 2;
  period.conflict_growth = of_two;
  EXPECT_EQ(reward(1, period, 1.0), (std::vector<float>{4.0F, -2.0F}));
}

TEST(Reward, OfDelayIsTheShareOfLostTimeThatIsSaved) {
  Baseline uncontrolled = baseline({-8, -8, -8, -8}, 1, 100);
  uncontrolled.expected_loss_s = 16;
  const Reward reward({uncontrolled}, 100.0, scene::Objective::kDelay);
  const std::array<double, 2> growth{-3.0, -1.0};
  rollout::Period period;
  period.time_s = 2.0;
  period.num_conflicts = 1;
  period.growth = growth;
  EXPECT_EQ(reward(0, period, 0.0), (std::vector<float>{25.0F}));
}

}  // namespace
}  // namespace traffic::train
