#include "train/monitor/straggler_watch.h"

#include <gtest/gtest.h>

#include <vector>

namespace traffic::train {
namespace {

/// Number of steps until the watch reports a straggler (a slow rank); 0 if it reports none.
int steps_until_found(StragglerWatch& watch, const std::vector<double>& busy_s, int limit,
                      Straggler* found = nullptr) {
  for (int step = 1; step <= limit; ++step) {
    if (const auto straggler = watch.add(busy_s)) {
      if (found != nullptr) *found = *straggler;
      return step;
    }
  }
  return 0;
}

TEST(StragglerWatch, NamesTheSlowRankWithinFiftySteps) {
  StragglerWatch watch;
  Straggler found;
  const int step = steps_until_found(watch, {0.1, 0.11, 0.6, 0.09}, 50, &found);
  EXPECT_GT(step, 1) << "one slow step is no straggler";
  EXPECT_EQ(found.rank, 2);
  EXPECT_NEAR(found.factor(), 6.0, 1e-9) << "the factor refers to the median of the other ranks";
  EXPECT_NEAR(found.step_s, 0.6, 1e-9);
  EXPECT_EQ(found.num_steps, step);
}

TEST(StragglerWatch, ThreeLongStepsAreEnough) {
  StragglerWatch watch;
  EXPECT_EQ(steps_until_found(watch, {12.0, 5.0}, 50), 3);
}

TEST(StragglerWatch, SaysNothingOfEqualRanksOneRankOrNoise) {
  StragglerWatch watch;
  EXPECT_EQ(steps_until_found(watch, {0.1, 0.12, 0.11}, 500), 0);
  EXPECT_EQ(steps_until_found(watch, {0.1}, 500), 0);
  EXPECT_EQ(steps_until_found(watch, {1e-5, 5e-5}, 500), 0);
  EXPECT_EQ(watch.num_found(), 0);
}

TEST(StragglerWatch, OneSlowStepInTwentyIsNoStraggler) {
  StragglerWatch watch;
  for (int step = 0; step < 200; ++step) {
    const double first_s = step % 20 == 7 ? 0.5 : 0.1;  // for example while saving
    EXPECT_FALSE(watch.add(std::vector<double>{first_s, 0.1}));
  }
}

TEST(StragglerWatch, RepeatsAReportRarelyButNamesAnotherRankAtOnce) {
  StragglerWatch watch;
  ASSERT_EQ(steps_until_found(watch, {0.1, 0.5}, 50), 20);
  EXPECT_EQ(steps_until_found(watch, {0.1, 0.5}, 900), 0);
  EXPECT_EQ(steps_until_found(watch, {0.5, 0.1}, 50), 20);
  EXPECT_GT(watch.num_found(), 40) << "steps are counted even if they are not reported";
  EXPECT_NE(steps_until_found(watch, {0.5, 0.1}, 2000), 0);
}

TEST(StragglerWatch, ARankNearTheLimitIsNotReportedAtEveryCrossing) {
  StragglerWatch watch;
  ASSERT_EQ(steps_until_found(watch, {0.16, 0.1}, 50), 20);
  for (int crossing = 0; crossing < 10; ++crossing) {
    EXPECT_EQ(steps_until_found(watch, {0.14, 0.1}, 20), 0);
    EXPECT_EQ(steps_until_found(watch, {0.16, 0.1}, 20), 0);
  }
}

}  // namespace
}  // namespace traffic::train
