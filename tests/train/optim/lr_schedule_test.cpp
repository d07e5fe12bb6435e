#include "train/optim/lr_schedule.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

config::Ppo rates(double first, double last) {
  config::Ppo ppo;
  ppo.learning_rate = first;
  ppo.final_learning_rate = last;
  return ppo;
}

TEST(LrSchedule, RisesLinearlyThenFallsAsACosineToTheFloor) {
  const LrSchedule schedule{.peak = 1.0, .floor = 0.1, .warmup_steps = 4, .total_steps = 14};
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.25);
  EXPECT_DOUBLE_EQ(schedule.at(3), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(4), 1.0);
  EXPECT_NEAR(schedule.at(9), 0.55, 1e-12);  // half way down, the mean of maximum and minimum
  EXPECT_NEAR(schedule.at(14), 0.1, 1e-12);
  EXPECT_NEAR(schedule.at(1000), 0.1, 1e-12);
}

TEST(LrSchedule, WorksWithoutWarmUpAndWithOneStep) {
  const LrSchedule schedule{.peak = 2.0, .floor = 0.0, .warmup_steps = 0, .total_steps = 1};
  EXPECT_DOUBLE_EQ(schedule.at(0), 2.0);
  EXPECT_NEAR(schedule.at(1), 0.0, 1e-12);
}

TEST(LrSchedule, OfPpoIsConstantOrFallsLinearly) {
  const config::Ppo ppo = rates(3e-4, 3e-4);
  for (const std::int64_t iteration : {0, 7, 29}) {
    EXPECT_EQ(schedule_of(ppo, 30).at(iteration), 3e-4);
    EXPECT_EQ(schedule_of(ppo, 30, 5).at(iteration), 3e-4);
  }
  const config::Ppo falling = rates(3e-4, 1e-4);
  EXPECT_EQ(schedule_of(falling, 10).at(0), 3e-4);
  EXPECT_DOUBLE_EQ(schedule_of(falling, 10).at(5), 2e-4);
}

TEST(LrSchedule, OfPpoCanWarmUpAndFallAsACosine) {
  config::Ppo ppo = rates(1e-4, 1e-7);
  ppo.lr_schedule = "cosine";
  ppo.warmup_iterations = 10;
  const LrSchedule same{.peak = 1e-4, .floor = 1e-7, .warmup_steps = 10, .total_steps = 100};
  for (std::int64_t i = 0; i <= 100; ++i) EXPECT_EQ(schedule_of(ppo, 100).at(i), same.at(i)) << i;
  EXPECT_DOUBLE_EQ(schedule_of(ppo, 100).at(0), 1e-5);
  EXPECT_DOUBLE_EQ(schedule_of(ppo, 100).at(9), 1e-4);
  EXPECT_NEAR(schedule_of(ppo, 100).at(55), (1e-4 + 1e-7) / 2, 1e-12);
  EXPECT_DOUBLE_EQ(schedule_of(ppo, 100).at(100), 1e-7);
}

TEST(LrSchedule, TheWarmUpBeginsAfterImitation) {
  config::Ppo ppo = rates(1e-4, 1e-4);
  ppo.warmup_iterations = 10;
  EXPECT_DOUBLE_EQ(schedule_of(ppo, 100, 40).at(40), 1e-5);
  EXPECT_DOUBLE_EQ(schedule_of(ppo, 100, 40).at(44), 5e-5);
  EXPECT_EQ(schedule_of(ppo, 100, 40).at(50), 1e-4);
}

TEST(LearningRateFactor, GrowsWithTheRanksAccordingToTheScaling) {
  EXPECT_EQ(learning_rate_factor("none", 8), 1.0);
  EXPECT_EQ(learning_rate_factor("linear", 8), 8.0);
  EXPECT_DOUBLE_EQ(learning_rate_factor("sqrt", 9), 3.0);
  EXPECT_THROW(learning_rate_factor("cubic", 8), Error);
}

}  // namespace
}  // namespace traffic::train
