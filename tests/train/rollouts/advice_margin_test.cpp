#include "train/rollouts/advice_margin.h"

#include <gtest/gtest.h>

namespace traffic::train {
namespace {

using Tried = AdviceMargin::Tried;

TEST(AdviceMargin, FollowsWhatIsBetterAndTurnsWhereNothingIs) {
  AdviceMargin margin(0.09);
  EXPECT_DOUBLE_EQ(margin.next(), 0.03);
  margin.judge(Tried::kBetter);
  EXPECT_DOUBLE_EQ(margin.value(), 0.03);
  margin.judge(Tried::kWorse);
  EXPECT_DOUBLE_EQ(margin.value(), 0.03);
  EXPECT_DOUBLE_EQ(margin.next(), 0.09);
  margin.judge(Tried::kBetter);
  EXPECT_DOUBLE_EQ(margin.value(), 0.09);
  EXPECT_DOUBLE_EQ(margin.next(), 0.27);
}

TEST(AdviceMargin, FallsUntilSomethingIsDoneOtherwise) {
  AdviceMargin margin(0.27);
  for (int i = 0; i < 3; ++i) margin.judge(Tried::kSame);
  EXPECT_NEAR(margin.value(), 0.01, 1e-12);
  margin.judge(Tried::kWorse);
  margin.judge(Tried::kSame);
  EXPECT_NEAR(margin.value(), 0.01, 1e-12) << "a greater one that does the same has no use";
  EXPECT_TRUE(margin.is_falling());
}

TEST(AdviceMargin, GoesOnWhereItStood) {
  AdviceMargin margin(0.09);
  margin.judge(Tried::kSame);
  margin.judge(Tried::kWorse);
  const AdviceMargin again(margin.value(), margin.is_falling());
  EXPECT_DOUBLE_EQ(again.next(), margin.next());
}

}  // namespace
}  // namespace traffic::train
