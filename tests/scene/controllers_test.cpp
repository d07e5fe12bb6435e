#include "traffic/scene/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traffic/core/error.h"
#include "traffic_fixture.h"

namespace traffic::scene {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace testing;  // NOLINT: the helpers beside this file

std::vector<std::uint32_t> picked(Controller& controller, const RoadState& state) {
  std::vector<Command> commands;
  controller.decide(state, commands);
  std::vector<std::uint32_t> ids;
  for (const auto& c : commands) ids.push_back(c.vehicle_id);
  return ids;
}

/// Puts n vehicles into the zone downstream of the merge, which has two lanes of 150 m.
void crowd_zone(Scene& s, int n) {
  for (int i = 0; i < n; ++i)
    s.add(kMain, i % 2 == 0 ? "out_0" : "out_1", 10.0 + 10.0 * (i / 2), 3);
}

std::vector<int> nodes_of(const std::vector<Candidate>& candidates) {
  std::vector<int> nodes;
  for (const Candidate& candidate : candidates) nodes.push_back(candidate.node);
  return nodes;
}

TEST(Candidates, AreCvsWithinTheZoneBeforeAStopLine) {
  Scene s(priority_merge().road());
  s.add(kMain, "main_0", 250, 10, false);
  s.add(kMain, "main_0", 240, 10, true);
  s.add(kMain, "main_0", 220, 10, true);
  s.add(kMain, "main_0", 190, 10, true);  // 110 m before the line
  s.add(kMain, "out_0", 10, 10, true);    // past the line
  s.step();
  std::vector<Candidate> found;
  find_candidates(s.state(), {.zone_m = 100}, found);
  EXPECT_THAT(nodes_of(found), ElementsAre(1, 2));
  find_candidates(s.state(), {.zone_m = 200, .lead_only = true}, found);
  EXPECT_THAT(nodes_of(found), ElementsAre(1));
}

TEST(Candidates, LeaveOutVehiclesUnderACommand) {
  Scene s(priority_merge().road());
  const auto cv = s.add(kMain, "main_0", 240, 10, true);
  s.step();
  CommandBook book;
  book.add(std::vector{Command{.vehicle_id = cv, .longitudinal = Longitudinal::kSlow, .hold_s = 2}},
           s.state());
  std::vector<Candidate> found;
  find_candidates(s.state(), {}, found);
  EXPECT_THAT(nodes_of(found), IsEmpty());
  s.step();
  s.step();  // the command has just ended, so the vehicle is a candidate again
  find_candidates(s.state(), {}, found);
  EXPECT_THAT(nodes_of(found), ElementsAre(0));
}

TEST(Candidates, CanBeLimitedToVehiclesThatCanArriveLate) {
  Scene s(priority_merge().road());
  s.add(kMain, "main_0", 200, 10, true);
  s.add(kRamp, "ramp_0", 150, 10,
        true);  // conflicts with the main road, which has no light and so no green to wait for
  std::vector<Candidate> found;
  s.events().lights = {LightState{.state = "G", .change_s = {40}}};
  s.step();
  find_candidates(s.state(), {.zone_m = 200, .released_only = true}, found);
  EXPECT_THAT(nodes_of(found), ElementsAre(0));
  s.events().lights = {LightState{.state = "r", .change_s = {20}}};
  s.step();
  find_candidates(s.state(), {.zone_m = 200, .released_only = true}, found);
  EXPECT_THAT(nodes_of(found), IsEmpty());
}

TEST(Meter, HoldsTheMinorApproachWhenTheZoneIsTooDense) {
  Scene s(priority_merge().road());
  const auto near = s.add(kRamp, "ramp_0", 280, 10, true);
  s.add(kRamp, "ramp_0", 230, 10, true);   // too far
  s.add(kRamp, "ramp_0", 297, 10, true);   // too near
  s.add(kRamp, "ramp_0", 270, 10, false);  // not connected
  s.add(kMain, "main_0", 280, 10, true);   // has priority
  crowd_zone(s, 10);                       // 33 veh/km/lane
  s.step();
  auto meter = make_controller("meter");
  EXPECT_THAT(picked(*meter, s.state()), ElementsAre(near));
}

TEST(Meter, LeavesTheRampOpenBelowTheCriticalDensity) {
  Scene s(priority_merge().road());
  s.add(kRamp, "ramp_0", 280, 10, true);
  crowd_zone(s, 9);  // 30 veh/km/lane
  s.step();
  auto meter = make_controller("meter");
  EXPECT_THAT(picked(*meter, s.state()), IsEmpty());
}

TEST(Meter, HoldsAtMostTopKTheNearestFirst) {
  Scene s(priority_merge().road());
  const auto far = s.add(kRamp, "ramp_0", 250, 10, true);
  const auto middle = s.add(kRamp, "ramp_0", 270, 10, true);
  const auto near = s.add(kRamp, "ramp_0", 290, 10, true);
  crowd_zone(s, 12);
  s.step();
  EXPECT_THAT(picked(*make_controller("meter"), s.state()), ElementsAre(near, middle, far));
  EXPECT_THAT(picked(*make_controller("meter", {.top_k = 2}), s.state()),
              ElementsAre(near, middle));
}

TEST(Vsl, SlowsTheLeftmostPriorityLaneWhileTheZoneIsDense) {
  Scene s(priority_merge().road());
  const auto outer = s.add(kMain, "main_0", 280, 10, true);
  const auto inner = s.add(kMain, "main_1", 250, 10, true);
  s.add(kMain, "main_1", 260, 10, false);  // not connected
  s.add(kMain, "main_1", 20, 10, true);    // too far
  s.add(kRamp, "ramp_0", 280, 10, true);   // gives way
  crowd_zone(s, 10);                       // 33 veh/km/lane
  s.step();
  EXPECT_THAT(picked(*make_controller("vsl"), s.state()), ElementsAre(inner));
  EXPECT_THAT(picked(*make_controller("vsl(inner=0)"), s.state()), ElementsAre(outer, inner));
  EXPECT_THAT(picked(*make_controller("vsl(density=34)"), s.state()), IsEmpty());
  std::vector<Command> commands;
  make_controller("vsl(speed_mps=9)")->decide(s.state(), commands);
  EXPECT_EQ(commands.at(0).longitudinal, Longitudinal::kTargetSpeed);
  EXPECT_DOUBLE_EQ(commands.at(0).value, 9);
  EXPECT_DOUBLE_EQ(commands.at(0).hold_s, 1);
}

/// Lane changes that sort commands, by vehicle id: -1 right, 1 left.
std::vector<std::pair<std::uint32_t, int>> sorted_by(const std::string& text,
                                                     const RoadState& state) {
  std::vector<Command> commands;
  make_controller(text)->decide(state, commands);
  std::vector<std::pair<std::uint32_t, int>> asked;
  for (const Command& command : commands) {
    EXPECT_EQ(command.longitudinal, Longitudinal::kNone);
    asked.emplace_back(command.vehicle_id, static_cast<int>(command.lane_change));
  }
  return asked;
}

TEST(Sort, SendsExitingVehiclesRightAndOthersLeft) {
  using ::testing::Pair;
  const std::vector<std::string> stays{"up", "weave", "down"};
  const std::vector<std::string> leaves{"up", "weave", "off"};
  Scene s(weaving_section().road());
  const auto stay = s.add(stays, "up_0", 500, 20, true);
  s.add(stays, "up_1", 480, 20, true);  // is on its lane already
  const auto leave = s.add(leaves, "up_1", 460, 20, true);
  s.add(leaves, "up_0", 440, 20, true);                   // leaves from its lane already
  s.add(stays, "up_0", 420, 20, false);                   // not connected
  s.add(stays, "up_0", 590, 20, true);                    // too near
  s.add({"on", "weave", "down"}, "on_0", 200, 20, true);  // its edge has one lane
  const auto far = s.add(stays, "up_0", 150, 20, true);
  s.step();
  EXPECT_THAT(sorted_by("sort", s.state()),
              ElementsAre(Pair(stay, 1), Pair(leave, -1), Pair(far, 1)));
  EXPECT_THAT(sorted_by("sort(to_m=300)", s.state()), ElementsAre(Pair(stay, 1), Pair(leave, -1)));
  EXPECT_THAT(sorted_by("sort(through=0)", s.state()), ElementsAre(Pair(leave, -1)));
  EXPECT_THAT(sorted_by("sort(balance=0.4)", s.state()), ElementsAre(Pair(leave, -1)))
      << "the two vehicles of the left lane are more than 0.4 times the four of the right lane";
}

TEST(Sort, VehiclesOnAnEndingLaneChangeEarly) {
  using ::testing::Pair;
  Scene s(lane_drop().road());
  const auto ends = s.add({"wide", "narrow"}, "wide_0", 300, 20, true);
  s.add({"wide", "narrow"}, "wide_2", 280, 20, true);
  s.step();
  EXPECT_THAT(sorted_by("sort(through=0)", s.state()), ElementsAre(Pair(ends, 1)));
}

TEST(Yield, HoldsTheLeadingCvOfEachMainLaneWhileTheRampIsReleased) {
  Scene s(priority_merge().road());
  s.add(kMain, "main_0", 290, 10);  // not connected
  const auto right = s.add(kMain, "main_0", 200, 10, true);
  s.add(kMain, "main_0", 150, 10, true);  // behind another CV
  const auto left = s.add(kMain, "main_1", 120, 10, true);
  s.add(kRamp, "ramp_0", 150, 10, true);
  auto yield = make_controller("yield");
  s.events().lights = {LightState{.state = "r", .change_s = {20}}};
  s.step();
  EXPECT_THAT(picked(*yield, s.state()), IsEmpty());
  s.events().lights = {LightState{.state = "G", .change_s = {40}}};
  s.step();
  EXPECT_THAT(picked(*yield, s.state()), ElementsAre(right, left));
  EXPECT_THAT(picked(*make_controller("yield", {.top_k = 1}), s.state()), ElementsAre(right));
  std::vector<Command> commands;
  yield->decide(s.state(), commands);
  EXPECT_EQ(commands[0].longitudinal, Longitudinal::kArriveLate);
  EXPECT_DOUBLE_EQ(commands[0].hold_s, 40);
  s.events().lights = {LightState{
      .state = "G", .change_s = {5}}};  // the green ends too soon for the script to begin
  s.step();
  EXPECT_THAT(picked(*yield, s.state()), IsEmpty());
}

TEST(Yield, ParametersSetTheReachAndTheLeadBeforeTheGreen) {
  Scene s(priority_merge().road());
  const auto at_the_line = s.add(kMain, "main_0", 298, 0, true);
  const auto far = s.add(kMain, "main_1", 150, 10, true);
  s.events().lights = {LightState{.state = "r", .change_s = {12}, .green_end_s = {72}}};
  s.step();
  EXPECT_THAT(picked(*make_controller("yield"), s.state()), IsEmpty());
  EXPECT_THAT(picked(*make_controller("yield(lead_s=11)"), s.state()), IsEmpty());
  EXPECT_THAT(picked(*make_controller("yield(lead_s=12)"), s.state()),
              ElementsAre(at_the_line, far));
  EXPECT_THAT(picked(*make_controller("yield(lead_s=12, from_m=80)"), s.state()), ElementsAre(far));
  std::vector<Command> commands;
  make_controller("yield(lead_s=12)")->decide(s.state(), commands);
  EXPECT_DOUBLE_EQ(commands[0].hold_s, 72);
  EXPECT_DOUBLE_EQ(commands[0].value, 12);
}

TEST(Candidates, CanArriveLateBeforeAGreenWithinItsLead) {
  Scene s(priority_merge().road());
  s.add(kMain, "main_0", 200, 10, true);
  s.events().lights = {LightState{.state = "r", .change_s = {12}, .green_end_s = {72}}};
  s.step();
  std::vector<Candidate> found;
  find_candidates(s.state(), {.zone_m = 200, .released_only = true, .lead_s = 11}, found);
  EXPECT_THAT(nodes_of(found), IsEmpty());
  find_candidates(s.state(), {.zone_m = 200, .released_only = true, .lead_s = 12}, found);
  EXPECT_THAT(nodes_of(found), ElementsAre(0));
}

TEST(Meter, ReadsThresholdZoneAndSpeedFromItsText) {
  Scene s(priority_merge().road());
  const auto far = s.add(kRamp, "ramp_0", 210, 10, true);  // 90 m before the line
  crowd_zone(s, 7);                                        // 23 veh/km/lane
  s.step();
  EXPECT_THAT(picked(*make_controller("meter(density=20)"), s.state()), IsEmpty());
  const auto meter = make_controller("meter(density=20, to_m=100, speed_mps=4)");
  std::vector<Command> commands;
  meter->decide(s.state(), commands);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0].vehicle_id, far);
  EXPECT_EQ(commands[0].longitudinal, Longitudinal::kTargetSpeed);
  EXPECT_DOUBLE_EQ(commands[0].value, 4);
}

TEST(Meter, CanUseTheDensityBeforeTheStopLines) {
  Scene s(priority_merge().road());
  const auto upstream = s.add(kRamp, "ramp_0", 50, 10, true);  // 250 m before the line
  for (int i = 0; i < 8; ++i) s.add(kMain, "main_0", 290.0 - 10 * i, 3);
  for (int i = 0; i < 7; ++i) s.add(kMain, "main_1", 290.0 - 10 * i, 3);
  s.step();  // 15 vehicles on 3 x 200 m: 25 veh/km/lane; the zone downstream is empty
  EXPECT_THAT(picked(*make_controller("meter(density=20, to_m=300)"), s.state()), IsEmpty());
  EXPECT_THAT(picked(*make_controller("meter(before=1, density=24, to_m=300)"), s.state()),
              ElementsAre(upstream));
  EXPECT_THAT(picked(*make_controller("meter(before=1, density=26, to_m=300)"), s.state()),
              IsEmpty());
}

/// Adds waiting vehicles on a lane, the first one 2 m before its stop line.
void queue_up(Scene& s, const std::vector<std::string>& route, const std::string& lane, int n) {
  for (int i = 0; i < n; ++i) s.add(route, lane, 298.0 - 8.0 * i, 0);
}

TEST(LetIn, StopsThePriorityStreamForALongerMinorQueue) {
  Scene s(priority_merge().road());
  const auto near = s.add(kMain, "main_0", 250, 10, true);
  const auto left = s.add(kMain, "main_1", 220, 10, true);
  s.add(kMain, "main_0", 240, 10, false);  // not connected
  s.add(kMain, "main_0", 190, 10, true);   // too far
  s.add(kRamp, "ramp_0", 150, 10, true);   // on the minor approach
  queue_up(s, kRamp, "ramp_0", 5);
  s.step();
  EXPECT_THAT(picked(*make_controller("let_in"), s.state()), IsEmpty());
  EXPECT_THAT(picked(*make_controller("let_in(queue=5)"), s.state()), ElementsAre(near, left));
  std::vector<Command> commands;
  make_controller("let_in(queue=5)")->decide(s.state(), commands);
  EXPECT_EQ(commands.at(0).longitudinal, Longitudinal::kStop);
  EXPECT_DOUBLE_EQ(commands.at(0).hold_s, 1);
}

TEST(LetIn, CountsBacklogAndKeepsPriorityOfLongerQueues) {
  Scene s(priority_merge().road());
  const auto main = s.add(kMain, "main_1", 250, 10, true);
  queue_up(s, kRamp, "ramp_0", 3);
  s.events().waiting.assign(3, {&s.plan(kRamp), 1.0});
  s.step();
  EXPECT_THAT(picked(*make_controller("let_in"), s.state()), ElementsAre(main));
  queue_up(s, kMain, "main_0", 6);
  s.step();
  EXPECT_THAT(picked(*make_controller("let_in"), s.state()), IsEmpty());
}

TEST(LetIn, EndsWhenFewAreLeftOrTooManyWait) {
  Scene s(priority_merge().road());
  const auto main = s.add(kMain, "main_1", 250, 10, true);
  queue_up(s, kRamp, "ramp_0", 2);
  s.step();
  const auto let_in = make_controller("let_in(left=1, most=4)");
  EXPECT_THAT(picked(*let_in, s.state()), IsEmpty())
      << "two waiting vehicles must not make the script stop the main road";
  CommandBook book;
  book.add(
      std::vector{Command{.vehicle_id = main, .longitudinal = Longitudinal::kStop, .hold_s = 10}},
      s.state());
  s.step();
  EXPECT_THAT(picked(*let_in, s.state()), ElementsAre(main))
      << "while the main road is stopped, two waiting vehicles must keep it stopped";
  EXPECT_THAT(picked(*make_controller("let_in(left=2)"), s.state()), IsEmpty());
  queue_up(s, kMain, "main_0", 4);
  s.step();
  EXPECT_THAT(picked(*let_in, s.state()), IsEmpty());
}

TEST(LetIn, StopsNoVehicleRightAfterAnotherConflict) {
  NetText net;  // a ring with entries at "a" and "b", 100 m apart
  net.edge("in", 1, 0, 300, -50).edge("before", 1, 0, 300).edge("ring", 1, 300, 100);
  net.edge("ramp", 1, 100, 300, -10).edge("out", 1, 400, 300);
  net.link("before", 0, "ring", 0).link("in", 0, "ring", 0);
  net.link("ring", 0, "out", 0).link("ramp", 0, "out", 0);
  net.junction("a", "before_0 in_0", {{"10", "00"}, {"01", "01"}});
  net.junction("b", "ring_0 ramp_0", {{"10", "00"}, {"01", "01"}});
  Scene s(net.road());
  s.add({"before", "ring", "out"}, "ring_0", 50, 10, true);
  const auto before = s.add({"before", "ring", "out"}, "before_0", 250, 10, true);
  queue_up(s, kRamp, "ramp_0", 6);
  s.step();
  EXPECT_THAT(picked(*make_controller("let_in"), s.state()), IsEmpty());
  queue_up(s, {"in", "ring", "out"}, "in_0", 6);
  s.step();
  EXPECT_THAT(picked(*make_controller("let_in"), s.state()), ElementsAre(before));
}

TEST(Brisk, CommandsFastNearAConflictNearestFirst) {
  Scene s(priority_merge().road());
  const auto behind = s.add(kMain, "out_0", 10, 10, true);
  const auto near = s.add(kMain, "main_0", 290, 10, true);
  const auto far = s.add(kRamp, "ramp_0", 250, 10, true);
  s.add(kMain, "main_0", 150, 10, true);   // too far
  s.add(kMain, "main_1", 280, 10, false);  // not connected
  s.step();
  EXPECT_THAT(picked(*make_controller("brisk(behind=0)"), s.state()), ElementsAre(near, far));
  EXPECT_THAT(picked(*make_controller("brisk(behind=0, top=1)"), s.state()), ElementsAre(near));
  const auto all = picked(*make_controller("brisk"), s.state());
  EXPECT_THAT(all, ::testing::UnorderedElementsAre(behind, near, far));
}

TEST(RandomController, RepeatsWithItsSeedAndKeepsToTopK) {
  Scene s(priority_merge().road());
  for (int i = 0; i < 12; ++i) s.add(kMain, "main_0", 295.0 - 7 * i, 10, true);
  s.step();
  auto controller = make_controller("random(share=1)", {.top_k = 3});
  controller->reset(7);
  const auto first = picked(*controller, s.state());
  const auto second = picked(*controller, s.state());
  EXPECT_EQ(first.size(), 3U);
  controller->reset(7);
  EXPECT_EQ(picked(*controller, s.state()), first);
  EXPECT_EQ(picked(*controller, s.state()), second);
  controller->reset(8);
  EXPECT_NE(picked(*controller, s.state()), first);
}

TEST(Controllers, NoneGivesNoCommands) {
  Scene s(priority_merge().road());
  s.add(kRamp, "ramp_0", 280, 10, true);
  s.step();
  EXPECT_THAT(picked(*make_controller("none"), s.state()), IsEmpty());
}

TEST(Controllers, DecideAtTheControlPeriodOrTheirOwnPeriod) {
  EXPECT_DOUBLE_EQ(make_controller("yield", {.period_s = 4})->period_s(), 4);
  EXPECT_DOUBLE_EQ(make_controller("yield(period_s=2)", {.period_s = 4})->period_s(), 2);
  EXPECT_DOUBLE_EQ(make_controller("meter", {.period_s = 4})->period_s(), 1);
}

TEST(Controllers, AnUnknownNameListsTheKnownOnes) {
  try {
    make_controller("metre");
    FAIL() << "expected an error: the name is unknown";
  } catch (const ConfigError& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("none, random, meter, vsl, yield, let_in, sort, brisk, glide, greedy, "
                          "max_pressure, actuated, retime; did you mean 'meter'?"));
  }
}

}  // namespace
}  // namespace traffic::scene
