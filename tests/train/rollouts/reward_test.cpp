#include <gtest/gtest.h>

#include <array>

#include "train/rollouts/reward.h"

namespace traffic::train {
namespace {

/// A baseline of two episodes.
/// @param growth growth of each conflict in each second, summed over both episodes
Baseline baseline(std::vector<double> growth, std::int64_t conflicts, double demand) {
  Baseline made;
  made.growth = {.bin_s = 1.0, .conflicts = conflicts, .episodes = 2, .growth = std::move(growth)};
  made.expected_demand = demand;
  return made;
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

TEST(Reward, OfCo2IsTheShareSavedOfTheCo2ThatTheDistanceAllows) {
  // In each second uncontrolled traffic emits 4 g and drives 20 m.
  Baseline uncontrolled = baseline({-8, 40, -8, 40, -8, 40, -8, 40}, 2, 100);
  uncontrolled.expected_emissions.co2_g = 16;
  uncontrolled.expected_driven_m = 80;
  const Reward reward({uncontrolled}, 100.0, scene::Objective::kCo2);
  EXPECT_EQ(reward.conflicts(), 1);
  rollout::Period period;
  period.time_s = 2.0;
  period.num_conflicts = 1;
  period.num_terms = 2;
  // 6 g for 50 m, where uncontrolled traffic emits 10 g: 4 of 16 g are saved.
  const std::array<double, 4> less{-3.0, 20.0, -3.0, 30.0};
  period.growth = less;
  EXPECT_EQ(reward(0, period, 0.0), (std::vector<float>{25.0F}));
  // Vehicles held in front of the network emit while nobody drives.
  const std::array<double, 4> held{-1.0, 0.0, -1.0, 0.0};
  period.growth = held;
  EXPECT_EQ(reward(0, period, 0.0), (std::vector<float>{-12.5F}));
}

TEST(Reward, OfElectricityUsesTheElectricEnergy) {
  Baseline uncontrolled = baseline({-8, 40, -8, 40}, 2, 100);
  uncontrolled.expected_emissions.electricity_wh = 16;
  uncontrolled.expected_loss_s = 8;
  uncontrolled.expected_driven_m = 80;
  const Reward reward({uncontrolled}, 100.0, scene::Objective::kElectricity);
  rollout::Period period;
  period.time_s = 1.0;
  period.num_conflicts = 1;
  period.num_terms = 2;
  const std::array<double, 2> growth{-2.0, 20.0};  // uncontrolled traffic needs 4 Wh for 20 m
  period.growth = growth;
  EXPECT_EQ(reward(0, period, 0.0), (std::vector<float>{12.5F}));
  EXPECT_EQ(reward.light_cost(0).electricity_s_per_wh, 0.5);
}

TEST(Reward, OfAWeightedSumAddsTheRelativeGains) {
  Baseline uncontrolled = baseline({-8, -8, 40, -8, -8, 40}, 3, 100);
  uncontrolled.expected_loss_s = 8;
  uncontrolled.expected_emissions.co2_g = 8;
  uncontrolled.expected_driven_m = 40;
  const Reward reward({uncontrolled}, 100.0, scene::Objective{.delay = 0.75, .co2 = 0.25});
  rollout::Period period;
  period.time_s = 1.0;
  period.num_conflicts = 1;
  period.num_terms = 3;
  const std::array<double, 3> growth{-3.0, -2.0, 20.0};
  period.growth = growth;
  EXPECT_EQ(reward(0, period, 0.0), (std::vector<float>{0.75F * 12.5F + 0.25F * 25.0F}));
  const rollout::LightCost cost = reward.light_cost(0);
  EXPECT_EQ(cost.delay, 0.75);
  EXPECT_EQ(cost.co2_s_per_g, 0.25);
  EXPECT_EQ(cost.distance_s_per_m, -0.05);  // 0.2 g/m of uncontrolled traffic
}

}  // namespace
}  // namespace traffic::train
