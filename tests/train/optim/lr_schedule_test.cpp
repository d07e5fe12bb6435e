#include "train/optim/lr_schedule.h"

#include <gtest/gtest.h>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

TEST(LrSchedule, RisesLinearlyThenFallsAsACosineToTheFloor) {
  const LrSchedule schedule{.peak = 1.0, .floor = 0.1, .warmup_steps = 4, .total_steps = 14};
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.25);
  EXPECT_DOUBLE_EQ(schedule.at(3), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(4), 1.0);
  EXPECT_NEAR(schedule.at(9), 0.55, 1e-12);  // half way: the mean of peak and floor
  EXPECT_NEAR(schedule.at(14), 0.1, 1e-12);
  EXPECT_NEAR(schedule.at(1000), 0.1, 1e-12);
}

TEST(LrSchedule, WorksWithoutWarmUpAndWithOneStep) {
  const LrSchedule schedule{.peak = 2.0, .floor = 0.0, .warmup_steps = 0, .total_steps = 1};
  EXPECT_DOUBLE_EQ(schedule.at(0), 2.0);
  EXPECT_NEAR(schedule.at(1), 0.0, 1e-12);
}

TEST(LearningRateFactor, FollowsTheRanksAsAsked) {
  EXPECT_EQ(learning_rate_factor("none", 8), 1.0);
  EXPECT_EQ(learning_rate_factor("linear", 8), 8.0);
  EXPECT_DOUBLE_EQ(learning_rate_factor("sqrt", 9), 3.0);
  EXPECT_THROW(learning_rate_factor("cubic", 8), Error);
}

}  // namespace
}  // namespace traffic::train
