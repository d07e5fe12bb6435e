#include "traffic/scene/signal_plan.h"

#include <gtest/gtest.h>

namespace traffic::scene {
namespace {

/// As netconvert writes a light with a left turn of its own: links 0 and 3 straight, 1 and 4 left,
/// 2 and 5 across.
SignalPlan protected_left() {
  const std::vector<SignalPhase> phases{{33, "GgrGgr"}, {3, "ygrygr"},  {6, "rGrrGr"},
                                        {3, "ryrryr"},  {33, "rrGrrG"}, {3, "rryrry"}};
  return SignalPlan(phases);
}

TEST(SignalPlan, GreensAreThePhasesWithoutYellow) {
  const SignalPlan plan = protected_left();
  ASSERT_EQ(plan.greens().size(), 3U);
  EXPECT_EQ(plan.greens()[1].state, "rGrrGr");
  EXPECT_EQ(plan.greens()[1].links, (std::vector<int>{1, 4}));
  EXPECT_TRUE(plan.has_choice());
  EXPECT_EQ(plan.find("rrGrrG"), 2);
  EXPECT_EQ(plan.find("ygrygr"), -1);
}

TEST(SignalPlan, WhoLosesHisGreenGetsYellowAndWhoKeepsItKeepsIt) {
  const SignalPlan plan = protected_left();
  EXPECT_EQ(plan.yellow(0, 1), "ygrygr");
  EXPECT_EQ(plan.all_red(0, 1), "rgrrgr");
  EXPECT_EQ(plan.yellow(0, 2), "yyryyr");
  EXPECT_EQ(plan.all_red(0, 2), "rrrrrr");
}

TEST(SignalPlan, WhoLosesPriorityGivesWayBeforeTheOthersGetTheirs) {
  const SignalPlan plan = protected_left();
  EXPECT_TRUE(plan.needs_yellow(1, 0));
  EXPECT_EQ(plan.yellow(1, 0), "rgrrgr");
}

TEST(SignalPlan, ALinkThatOnlyGetsGreenNeedsNoYellow) {
  const SignalPlan plan(std::vector<SignalPhase>{{30, "Grr"}, {10, "GGr"}});
  EXPECT_FALSE(plan.needs_yellow(0, 1));
  EXPECT_TRUE(plan.needs_yellow(1, 0));
}

TEST(SignalPlan, RightOnRedIsNoGreenAndALightThatIsOffHasNone) {
  const SignalPlan plan(std::vector<SignalPhase>{{30, "Gs"}, {3, "yr"}, {30, "rG"}, {2, "ru"}});
  ASSERT_EQ(plan.greens().size(), 2U);
  EXPECT_EQ(plan.greens()[0].links, (std::vector<int>{0}));
  EXPECT_EQ(plan.yellow(0, 1), "ys");
  EXPECT_EQ(plan.yellow(1, 0), "ry");
  EXPECT_FALSE(SignalPlan(std::vector<SignalPhase>{{90, "oo"}}).has_choice());
  EXPECT_TRUE(SignalPlan(std::vector<SignalPhase>{{90, "OO"}}).greens().empty());
}

TEST(SignalPlan, ALightWithOneGreenHasNoChoice) {
  const SignalPlan plan(std::vector<SignalPhase>{{30, "G"}, {3, "y"}, {30, "r"}, {20, "G"}});
  EXPECT_EQ(plan.greens().size(), 1U);
  EXPECT_FALSE(plan.has_choice());
}

}  // namespace
}  // namespace traffic::scene
