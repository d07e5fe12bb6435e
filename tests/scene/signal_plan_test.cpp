#include "traffic/scene/signal_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace traffic::scene {
namespace {

/// The program that netconvert writes for a light with protected left turns. Links 0 and 3 lead
/// straight on, 1 and 4 to the left; 2 and 5 belong to the crossing road.
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

TEST(SignalPlan, LinksThatLoseGreenShowYellowAndOthersStay) {
  const SignalPlan plan = protected_left();
  EXPECT_EQ(plan.yellow(0, 1), "ygrygr");
  EXPECT_EQ(plan.all_red(0, 1), "rgrrgr");
  EXPECT_EQ(plan.yellow(0, 2), "yyryyr");
  EXPECT_EQ(plan.all_red(0, 2), "rrrrrr");
}

TEST(SignalPlan, LinksThatLosePriorityYieldBeforeTheNextGreen) {
  const SignalPlan plan = protected_left();
  EXPECT_TRUE(plan.needs_yellow(1, 0));
  EXPECT_EQ(plan.yellow(1, 0), "rgrrgr");
}

TEST(SignalPlan, ALinkThatOnlyGetsGreenNeedsNoYellow) {
  const SignalPlan plan(std::vector<SignalPhase>{{30, "Grr"}, {10, "GGr"}});
  EXPECT_FALSE(plan.needs_yellow(0, 1));
  EXPECT_TRUE(plan.needs_yellow(1, 0));
}

TEST(SignalPlan, RightOnRedAndOffAreNotGreen) {
  const SignalPlan plan(std::vector<SignalPhase>{{30, "Gs"}, {3, "yr"}, {30, "rG"}, {2, "ru"}});
  ASSERT_EQ(plan.greens().size(), 2U);
  EXPECT_EQ(plan.greens()[0].links, (std::vector<int>{0}));
  EXPECT_EQ(plan.yellow(0, 1), "ys");
  EXPECT_EQ(plan.yellow(1, 0), "ry");
  EXPECT_FALSE(SignalPlan(std::vector<SignalPhase>{{90, "oo"}}).has_choice());
  EXPECT_TRUE(SignalPlan(std::vector<SignalPhase>{{90, "OO"}}).greens().empty());
}

TEST(SignalPlan, ALinkThatIsAlwaysOffDoesNotPreventAGreen) {
  const SignalPlan plan(std::vector<SignalPhase>{{30, "OGr"}, {3, "Oyr"}, {20, "OrG"}, {3, "Ory"}});
  ASSERT_EQ(plan.greens().size(), 2U);
  EXPECT_EQ(plan.greens()[0].state, "OGr");
  EXPECT_EQ(plan.yellow(0, 1), "Oyr");
}

TEST(SignalPlan, ARampMeterOfGreenAndRedHasNoChoice) {
  EXPECT_FALSE(SignalPlan(std::vector<SignalPhase>{{2, "G"}, {8, "r"}}).has_choice());
  EXPECT_FALSE(SignalPlan(std::vector<SignalPhase>{}).has_choice());
}

/// Phases 1 to 8 of eight links; phase n gives link n - 1 green, and link 0 may always yield.
SignalLogic nema(const std::string& ring1, const std::string& ring2) {
  SignalLogic logic;
  for (int n = 1; n <= 8; ++n) {
    std::string state = "grrrrrrr";
    state[static_cast<std::size_t>(n - 1)] = 'G';
    logic.phases.push_back({.duration_s = 30, .state = state, .name = std::to_string(n)});
  }
  logic.parameters = {
      {"ring1", ring1}, {"ring2", ring2}, {"barrierPhases", "4,8"}, {"coordinatePhases", "2,6"}};
  return logic;
}

std::vector<std::string> states_of(const SignalPlan& plan) {
  std::vector<std::string> states;
  for (const SignalGreen& green : plan.greens()) states.push_back(green.state);
  return states;
}

TEST(SignalPlan, GreensOfANemaProgramArePairsBetweenTheSameBarriers) {
  const SignalPlan plan(nema("1,2,3,4", "5,6,7,8"));
  EXPECT_EQ(states_of(plan),
            (std::vector<std::string>{"GrrrGrrr", "GrrrrGrr", "gGrrGrrr", "gGrrrGrr", "grGrrrGr",
                                      "grGrrrrG", "grrGrrGr", "grrGrrrG"}));
  EXPECT_EQ(states_of(SignalPlan(nema("0,2,0,4", "0,6,0,8"))),
            (std::vector<std::string>{"gGrrrGrr", "grrGrrrG"}));
  EXPECT_EQ(states_of(SignalPlan(nema("0,2,0,4", "0,0,0,8"))),
            (std::vector<std::string>{"gGrrrrrr", "grrGrrrG"}));
}

TEST(SignalPlan, ALightWithOneGreenHasNoChoice) {
  const SignalPlan plan(std::vector<SignalPhase>{{30, "G"}, {3, "y"}, {30, "r"}, {20, "G"}});
  EXPECT_EQ(plan.greens().size(), 1U);
  EXPECT_FALSE(plan.has_choice());
}

TEST(SignalPlan, LongGreensOfAFixedProgramMayChangeByAShare) {
  const SignalPlan plan(std::vector<SignalPhase>{{.duration_s = 20, .state = "Gr"},
                                                 {.duration_s = 12, .state = "yr"},
                                                 {.duration_s = 6, .state = "rG"}});
  EXPECT_EQ(plan.with_limits(0, 0.25).min_s, 15);
  EXPECT_EQ(plan.with_limits(0, 0.25).max_s, 25);
  EXPECT_EQ(plan.with_limits(1, 0.25).max_s, 0) << "yellow must keep its duration";
  EXPECT_EQ(plan.with_limits(2, 0.25).max_s, 0) << "a short green must keep its duration";
  const SignalPlan own(
      std::vector<SignalPhase>{{.duration_s = 20, .state = "Gr", .min_s = 18, .max_s = 40},
                               {.duration_s = 20, .state = "rG"}});
  EXPECT_EQ(own.with_limits(0, 0.25).max_s, 40);
  EXPECT_EQ(own.with_limits(1, 0.25).max_s, 0) << "the program itself limits the durations";
}

TEST(SignalPlan, TheNextGreenIsThatOfALinkThatIsRedNow) {
  const SignalPlan plan(std::vector<SignalPhase>{{10, "Grr"}, {5, "GGr"}, {3, "yyr"}, {9, "rrG"}});
  EXPECT_EQ(plan.next_green(0), 1);
  EXPECT_EQ(plan.next_green(1), 3);
  EXPECT_EQ(plan.next_green(3), 0);
  EXPECT_EQ(SignalPlan(std::vector<SignalPhase>{{10, "G"}, {3, "y"}}).next_green(0), -1);
  EXPECT_THAT(plan.green_of(1).links, ::testing::ElementsAre(0, 1));
}

}  // namespace
}  // namespace traffic::scene
