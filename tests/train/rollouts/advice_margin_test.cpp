#include "train/rollouts/advice_margin.h"

#include <gtest/gtest.h>

namespace traffic::train {
namespace {

using Tried = AdviceMargin::Tried;

TEST(AdviceMargin, FallsWhileDecisionsAreTheSameAndThenIfTheGainIsHigher) {
  AdviceMargin margin(0.9);
  EXPECT_DOUBLE_EQ(margin.other(false), 0.3);
  margin.judge(false, Tried::kSame);
  EXPECT_DOUBLE_EQ(margin.value(), 0.3);
  margin.judge(false, Tried::kWorse);
  EXPECT_DOUBLE_EQ(margin.value(), 0.3);
  margin.judge(false, Tried::kBetter);
  EXPECT_DOUBLE_EQ(margin.value(), 0.1);
}

TEST(AdviceMargin, RisesAfterAFallIfTheLargerMarginGainsMore) {
  AdviceMargin margin(0.1);
  EXPECT_DOUBLE_EQ(margin.other(true), 0.3);
  for (const Tried tried : {Tried::kWorse, Tried::kSame}) {
    margin.judge(true, tried);
    EXPECT_DOUBLE_EQ(margin.value(), 0.1);
  }
  margin.judge(true, Tried::kBetter);
  EXPECT_DOUBLE_EQ(margin.value(), 0.3);
}

}  // namespace
}  // namespace traffic::train
