#include "traffic/scene/signal_book.h"

#include <gtest/gtest.h>

#include "traffic/core/error.h"

namespace traffic::scene {
namespace {

/// Simulates one light in steps of a second.
class SignalBookTest : public ::testing::Test {
 protected:
  void begin(const SignalLimits& limits, const std::string& shown = "Gr") {
    const std::vector<SignalPhase> phases{{30, "Gr"}, {3, "yr"}, {30, "rG"}, {3, "ry"}};
    std::vector<SignalPlan> plans;
    plans.emplace_back(phases);
    book_.reset(std::move(plans), limits);
    time_s_ = 0;
    lights_ = {LightState{.state = shown, .change_s = {}}};
    book_.observe(time_s_, lights_);
  }
  /// @return the state of the light during the step
  std::string step() {
    for (const SignalChange& change : book_.advance()) lights_[0].state = change.state;
    time_s_ += 1;
    book_.observe(time_s_, lights_);
    return lights_[0].state;
  }
  std::string steps(int count) {
    std::string last;
    for (int i = 0; i < count; ++i) last = step();
    return last;
  }
  void ask(int green) {
    const SignalCommand command{0, green};
    book_.add(std::span(&command, 1));
  }

  SignalBook book_;
  std::vector<LightState> lights_;
  double time_s_ = 0;
};

TEST_F(SignalBookTest, ASwitchGoesThroughYellow) {
  begin({.yellow_s = 3, .min_green_s = 5});
  EXPECT_EQ(steps(5), "Gr");
  ask(1);
  EXPECT_EQ(step(), "yr");
  EXPECT_EQ(steps(2), "yr");
  EXPECT_EQ(step(), "rG");
  EXPECT_EQ(book_.present(0), 1);
  EXPECT_EQ(book_.num_changes(), 1);
}

/// The example in the header, with a light that follows the book.
TEST(SignalBookExample, SwitchesTheLightByYellow) {
  const std::vector<SignalPhase> phases{{30, "Gr"}, {3, "yr"}, {30, "rG"}, {3, "ry"}};
  SignalBook book;
  book.reset({SignalPlan(phases)}, {.yellow_s = 1, .min_green_s = 2});
  std::vector<LightState> lights_now{{.state = "Gr", .change_s = {}}};
  std::vector<std::string> shown;
  const std::int32_t wanted_green = 1;
  for (double time_s = 0; time_s < 4; ++time_s) {
    book.observe(time_s, lights_now);
    for (int light = 0; light < book.num_lights(); ++light) {
      const SignalCommand command{.light = light, .green = wanted_green};
      if (book.may_switch(light)) book.add(std::span(&command, 1));
    }
    for (const SignalChange& change : book.advance()) {
      lights_now[static_cast<std::size_t>(change.light)].state = change.state;
    }
    shown.push_back(lights_now[0].state);
  }
  EXPECT_EQ(shown, (std::vector<std::string>{"Gr", "Gr", "yr", "rG"}));
}

TEST_F(SignalBookTest, ALightWhoseLinksOnlyGainGreenSwitchesAtOnce) {
  const std::vector<SignalPhase> phases{{30, "Gr"}, {30, "GG"}};
  book_.reset({SignalPlan(phases)}, {.yellow_s = 3, .min_green_s = 1});
  lights_ = {LightState{.state = "Gr", .change_s = {}}};
  book_.observe(0, lights_);
  step();
  ask(1);
  EXPECT_EQ(step(), "GG");
}

TEST_F(SignalBookTest, AllRedFollowsYellowIfConfigured) {
  begin({.yellow_s = 2, .all_red_s = 1, .min_green_s = 1});
  step();
  ask(1);
  EXPECT_EQ(steps(2), "yr");
  EXPECT_EQ(step(), "rr");
  EXPECT_EQ(step(), "rG");
}

TEST_F(SignalBookTest, GreenWaitsForAClearJunctionUpToALimit) {
  begin({.yellow_s = 2, .min_green_s = 1});
  step();
  ask(1);
  EXPECT_EQ(steps(2), "yr");
  book_.set_inside(0, 1, 0);
  EXPECT_EQ(steps(3), "rr");
  book_.set_inside(0, 0, 0);
  EXPECT_EQ(step(), "rG");
  ask(0);
  EXPECT_EQ(steps(2), "ry");
  book_.set_inside(0, 1, 0);
  EXPECT_EQ(steps(static_cast<int>(kClearanceS)), "rr");
  EXPECT_EQ(step(), "Gr");
}

TEST_F(SignalBookTest, GreenWaitsForVehiclesThatLeaveTheJunction) {
  begin({.yellow_s = 2, .min_green_s = 1});
  step();
  ask(1);
  steps(2);
  book_.set_inside(0, 2, 0);
  EXPECT_EQ(steps(8), "rr");
  book_.set_inside(0, 1, 1);  // the first vehicle has found a gap
  EXPECT_EQ(steps(1), "rr");
  book_.set_inside(0, 1, 0);
  EXPECT_EQ(steps(9), "rr") << "all-red must last as long as if no vehicle had moved before";
  book_.set_inside(0, 0, 1);
  EXPECT_EQ(steps(2), "rr");
  book_.set_inside(0, 0, 0);
  EXPECT_EQ(step(), "rG");
  ask(0);
  EXPECT_EQ(steps(2), "ry");
  for (int i = 0; i < static_cast<int>(kLongestClearanceS); ++i) {
    book_.set_inside(0, 1, 1);
    EXPECT_EQ(step(), "rr");
  }
  EXPECT_EQ(step(), "Gr") << "all-red must end after its maximum";
}

TEST_F(SignalBookTest, RefusesCommandsBeforeTheMinimumGreen) {
  begin({.yellow_s = 3, .min_green_s = 5});
  EXPECT_EQ(steps(4), "Gr");
  EXPECT_FALSE(book_.may_switch(0));
  EXPECT_THROW(ask(1), Error);
  step();
  EXPECT_TRUE(book_.may_switch(0));
  ask(1);
  step();
  EXPECT_FALSE(book_.may_switch(0)) << "a light that shows yellow must not switch";
  EXPECT_THROW(ask(0), Error);
}

TEST_F(SignalBookTest, TheMaximumGreenEndsByItself) {
  begin({.yellow_s = 3, .min_green_s = 5, .max_green_s = 10});
  EXPECT_EQ(steps(10), "Gr");
  EXPECT_EQ(step(), "yr");
  EXPECT_EQ(steps(3), "rG");
  begin({.yellow_s = 3, .min_green_s = 5, .max_green_s = 0});
  EXPECT_EQ(steps(500), "Gr");
}

TEST_F(SignalBookTest, ACommandForThePresentGreenKeepsIt) {
  begin({.min_green_s = 5});
  steps(5);
  ask(0);
  EXPECT_EQ(steps(20), "Gr");
  EXPECT_DOUBLE_EQ(book_.green_s(0), 25);
  EXPECT_DOUBLE_EQ(book_.red_s(0, 1), 25);
  EXPECT_DOUBLE_EQ(book_.red_s(0, 0), 0);
}

TEST_F(SignalBookTest, TheProgramRunsUntilItShowsAGreen) {
  begin({.min_green_s = 5}, "yr");
  EXPECT_EQ(step(), "yr");
  EXPECT_EQ(book_.present(0), -1);
  EXPECT_FALSE(book_.may_switch(0));
  lights_[0].state = "rG";  // shown by the program
  step();
  EXPECT_EQ(book_.present(0), 1);
  EXPECT_EQ(steps(5), "rG");
  EXPECT_TRUE(book_.may_switch(0));
}

TEST_F(SignalBookTest, RefusesLightsAndGreensThatDoNotExist) {
  begin({.min_green_s = 1});
  step();
  EXPECT_THROW(ask(2), Error);
  const SignalCommand other{1, 0};
  EXPECT_THROW(book_.add(std::span(&other, 1)), Error);
}

/// A light that keeps its program: 20 s green that may last 10 to 30 s, 3 s yellow, then the other
/// direction with a fixed duration.
class KeptProgramTest : public ::testing::Test {
 protected:
  KeptProgramTest() {
    const std::vector<SignalPhase> phases{
        {.duration_s = 20, .state = "Gr", .min_s = 10, .max_s = 30},
        {.duration_s = 3, .state = "yr", .min_s = 3, .max_s = 3},
        {.duration_s = 15, .state = "rG", .min_s = 15, .max_s = 15},
        {.duration_s = 3, .state = "ry", .min_s = 3, .max_s = 3}};
    std::vector<SignalPlan> plans;
    plans.emplace_back(phases);
    book_.reset(std::move(plans), {}, SignalMode::kKeepsPrograms);
  }
  void show(double time_s, int phase, double left_s) {
    const std::vector<LightState> lights{
        {.state = book_.plan(0).phases()[static_cast<std::size_t>(phase)].state,
         .phase = phase,
         .phase_left_s = left_s,
         .change_s = {}}};
    book_.observe(time_s, lights);
  }
  SignalBook book_;
};

TEST_F(KeptProgramTest, APhaseMayEndBetweenItsMinimumAndMaximum) {
  show(0, 0, 20);
  EXPECT_FALSE(book_.may_switch(0)) << "the phase has just begun";
  show(10, 0, 10);
  EXPECT_TRUE(book_.may_switch(0));
  EXPECT_EQ(book_.phase_left_s(0), 10);
  EXPECT_EQ(book_.longest_left_s(0), 20);
  show(30, 0, 0);
  EXPECT_FALSE(book_.may_switch(0)) << "the phase has reached its maximum";
  show(31, 1, 3);
  EXPECT_FALSE(book_.may_switch(0)) << "yellow must not be shortened";
  show(34, 2, 15);
  EXPECT_FALSE(book_.may_switch(0)) << "the program fixes this duration";
  EXPECT_EQ(book_.longest_left_s(0), 0);
}

TEST_F(KeptProgramTest, APhaseLastsFromTheStepInWhichItBegan) {
  show(5, 3, 0);
  show(6, 0, 19);  // SUMO began the phase in the step from 5 to 6
  EXPECT_EQ(book_.phase_s(0), 1);
  EXPECT_EQ(book_.shortest_left_s(0), 9);
  EXPECT_EQ(book_.longest_left_s(0), 29);
}

TEST_F(KeptProgramTest, ALightDecidesEarlyIfItsMinimumEndsBeforeTheNextDecision) {
  show(0, 0, 20);
  show(6, 0, 14);
  EXPECT_FALSE(book_.may_switch(0, 4)) << "the next decision comes in time";
  EXPECT_TRUE(book_.may_switch(0, 5));
}

TEST_F(KeptProgramTest, CommandsDoNotMakeAPhaseTooShortOrTooLong) {
  show(0, 0, 20);
  show(6, 0, 14);
  const std::vector<SignalCommand> commands{{.light = 0, .left_s = 0.0F},
                                            {.light = 0, .left_s = 100.0F}};
  book_.add(commands);
  const std::vector<SignalChange>& changes = book_.advance();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].left_s, 4) << "the phase must last 10 s in all, its minimum";
  EXPECT_EQ(changes[1].left_s, 24) << "the phase must last 30 s in all, its maximum";
}

TEST_F(KeptProgramTest, AnEpisodeMayBeginInTheMiddleOfAPhase) {
  show(0, 0, 5);
  EXPECT_EQ(book_.phase_s(0), 15);
  EXPECT_TRUE(book_.may_switch(0));
}

TEST_F(KeptProgramTest, TheOptionsAreThePresentPhaseAndTheNextOtherGreen) {
  show(1, 2, 14);
  show(16, 3, 2);
  show(18, 3, 0);
  show(19, 0, 19);
  show(30, 0, 8);
  const std::vector<SignalOption> options = book_.options(0);
  ASSERT_EQ(options.size(), 2U);
  EXPECT_TRUE(options[0].is_present);
  EXPECT_EQ(options[0].green->state, "Gr");
  EXPECT_EQ(options[0].shown_s, 12);
  EXPECT_EQ(options[1].green->state, "rG");
  EXPECT_EQ(options[1].hidden_s, 29) << "expected is the time since the phase was last observed";
}

}  // namespace
}  // namespace traffic::scene
