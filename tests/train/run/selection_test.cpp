#include "train/run/selection.h"

#include <gtest/gtest.h>

namespace traffic::train {
namespace {

using Gains = std::vector<double>;

constexpr double kLimitKept = 0.0;

TEST(Selection, TakesTheFirstPolicyAndOneWithAHigherGain) {
  Selection selection;
  EXPECT_TRUE(selection.prefers(kLimitKept, Gains{-3.0, -1.0, -2.0}));
  EXPECT_TRUE(selection.prefers(kLimitKept, Gains{1.0, 2.0, 3.0}));
}

TEST(Selection, PrefersALaterPolicyWithinAStandardErrorOfTheHighest) {
  Selection selection;
  ASSERT_TRUE(selection.prefers(kLimitKept, Gains{4.0, 6.0, 5.0, 5.0}));
  // The differences from the highest gains have a mean of -.2 and a deviation of .816, so the
  // standard error is .408.
  EXPECT_TRUE(selection.prefers(kLimitKept, Gains{2.8, 6.8, 4.8, 4.8}));
  // The mean difference is the same, but it is equal for all seeds, so the standard error is 0.
  EXPECT_FALSE(selection.prefers(kLimitKept, Gains{3.8, 5.8, 4.8, 4.8}));
}

TEST(Selection, ComparesWithTheHighestGainNotWithTheLastKept) {
  Selection selection;
  ASSERT_TRUE(selection.prefers(kLimitKept, Gains{4.0, 6.0, 5.0, 5.0}));
  ASSERT_TRUE(selection.prefers(kLimitKept, Gains{2.8, 6.8, 4.8, 4.8}));
  // These gains are below the second ones by .2 +- .204, but below the first ones by .4 +- .204.
  EXPECT_FALSE(selection.prefers(kLimitKept, Gains{3.1, 6.1, 4.6, 4.6}));
}

TEST(Selection, PutsALimitBeforeAnyGain) {
  Selection selection;
  ASSERT_TRUE(selection.prefers(0.2, Gains{9.0, 9.0}));
  EXPECT_FALSE(selection.prefers(0.3, Gains{20.0, 20.0}));
  EXPECT_TRUE(selection.prefers(0.1, Gains{5.0, 5.0}));
  EXPECT_TRUE(selection.prefers(kLimitKept, Gains{1.0, 1.0}));
  EXPECT_FALSE(selection.prefers(0.01, Gains{9.0, 9.0}));
}

TEST(Selection, AFallIsBelowTheHighestByMoreThanTheInterval) {
  Selection selection;
  EXPECT_FALSE(selection.is_fall(kLimitKept, Gains{-9.0, -9.0}))
      << "there is no earlier evaluation to compare with";
  ASSERT_TRUE(selection.prefers(kLimitKept, Gains{4.0, 6.0, 5.0, 5.0}));
  // The differences from the highest gains are -2, -1, -1, -1. Their mean is -1.25, and the
  // half-width of the interval is 3.182 * .5 / 2 = .796.
  EXPECT_TRUE(selection.is_fall(kLimitKept, Gains{2.0, 5.0, 4.0, 4.0}));
  // The differences are -3, 0, -1, -1. Their mean is -1.25, but the half-width is
  // 3.182 * 1.258 / 2 = 2.
  EXPECT_FALSE(selection.is_fall(kLimitKept, Gains{1.0, 6.0, 4.0, 4.0}));
  EXPECT_FALSE(selection.is_fall(kLimitKept, Gains{2.0, 5.0, 4.0}))
      << "gains with another number of seeds cannot be compared";
  Selection over;
  ASSERT_TRUE(over.prefers(0.2, Gains{4.0, 6.0, 5.0, 5.0}));
  EXPECT_FALSE(over.is_fall(0.1, Gains{2.0, 5.0, 4.0, 4.0}))
      << "the excess over the limit is smaller, so this is no fall";
  EXPECT_TRUE(over.is_fall(0.2, Gains{2.0, 5.0, 4.0, 4.0}));
}

TEST(Selection, ContinuesFromItsState) {
  Selection before;
  ASSERT_TRUE(before.prefers(0.1, Gains{4.0, 6.0}));
  Selection after;
  after.restore(before.best_excess(), before.best_gains());
  EXPECT_FALSE(after.prefers(0.1, Gains{3.0, 5.0}));
  EXPECT_FALSE(after.prefers(0.2, Gains{7.0, 9.0}));
  EXPECT_TRUE(after.prefers(0.1, Gains{5.0, 6.0}));
}

TEST(Selection, BeginsAnewIfTheNumberOfSeedsChanges) {
  Selection selection;
  ASSERT_TRUE(selection.prefers(kLimitKept, Gains{4.0, 6.0}));
  EXPECT_TRUE(selection.prefers(kLimitKept, Gains{1.0, 1.0, 1.0}));
}

}  // namespace
}  // namespace traffic::train
