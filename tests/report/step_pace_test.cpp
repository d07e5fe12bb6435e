#include "traffic/report/step_pace.h"

#include <gtest/gtest.h>

namespace traffic::report {
namespace {

void add_minutes(StepPace& pace, int minutes, double seconds_per_step) {
  for (int i = 0; i < 6 * minutes; ++i) pace.add(100, 100 * seconds_per_step);
}

TEST(StepPace, IsTheMeanOfTheLastMinutes) {
  StepPace pace;
  EXPECT_EQ(pace.seconds_per_step(), 0.0);
  pace.add(10, 2.0);
  EXPECT_DOUBLE_EQ(pace.seconds_per_step(), 0.2);
  // An evaluation after every tenth step is part of the remaining time.
  StepPace with_evaluations;
  for (int i = 1; i <= 60; ++i) with_evaluations.add(1, i % 10 == 0 ? 8.0 : 2.0);
  EXPECT_NEAR(with_evaluations.seconds_per_step(), 2.6, 1e-9);
}

TEST(StepPace, AStallOfHoursHardlyChangesTheEstimate) {
  StepPace pace;
  add_minutes(pace, 5, 0.1);
  pace.add(1, 6 * 3600.0);
  EXPECT_NEAR(pace.seconds_per_step(), 0.1, 0.01);
  add_minutes(pace, 1, 0.1);
  EXPECT_NEAR(pace.seconds_per_step(), 0.1, 0.01);
  // A stall early in a run hardly changes the estimate, either.
  StepPace early;
  early.add(20, 2.0);
  early.add(1, 6 * 3600.0);
  EXPECT_LT(early.seconds_per_step(), 0.2);
}

TEST(StepPace, FollowsAMachineThatHasBecomeSlower) {
  StepPace pace;
  add_minutes(pace, 12, 0.1);
  add_minutes(pace, 12, 2.0);
  EXPECT_NEAR(pace.seconds_per_step(), 2.0, 1e-9);
}

TEST(StepPace, TimeWithoutAStepCountsForTheNextStep) {
  StepPace pace;
  for (int i = 0; i < 100; ++i) {
    pace.add(0, 3.0);
    pace.add(1, 1.0);
  }
  EXPECT_NEAR(pace.seconds_per_step(), 4.0, 1e-9);
}

}  // namespace
}  // namespace traffic::report
