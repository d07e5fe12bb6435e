#include "traffic/scene/road_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traffic/core/error.h"
#include "traffic_fixture.h"

namespace traffic::scene {
namespace {

using namespace testing;  // NOLINT: the helpers beside this file

TEST(RoadState, FindsLeadersOnTheLaneAndBeyondIt) {
  Scene s(priority_merge().road());
  const auto rear = s.add(kMain, "main_0", 200, 15);
  const auto middle = s.add(kMain, "main_0", 260, 15);
  const auto front = s.add(kMain, "out_0", 20, 10);
  const auto beside = s.add(kMain, "main_1", 230, 15);
  s.step();
  EXPECT_EQ(s.at(rear).leader, static_cast<int>(middle));  // ids are indices here
  EXPECT_DOUBLE_EQ(s.at(rear).leader_gap_m, 60 - 5);
  EXPECT_EQ(s.at(middle).leader, static_cast<int>(front));
  EXPECT_DOUBLE_EQ(s.at(middle).leader_gap_m, 40 + 20 - 5);
  EXPECT_EQ(s.at(beside).leader, -1);
  EXPECT_DOUBLE_EQ(s.at(beside).leader_gap_m, kLeaderReachM);
  EXPECT_EQ(s.at(front).follower, static_cast<int>(middle));
  EXPECT_DOUBLE_EQ(s.at(front).follower_gap_m, 55);
  EXPECT_EQ(s.at(rear).follower, -1);
}

TEST(RoadState, TheNearerOfTwoFollowersCounts) {
  Scene s(priority_merge().road());
  const auto on_main = s.add(kMain, "main_0", 290, 15);
  const auto on_ramp = s.add(kRamp, "ramp_0", 280, 15);
  const auto front = s.add(kMain, "out_0", 10, 10);
  s.step();
  EXPECT_EQ(s.at(on_ramp).leader, static_cast<int>(front));
  EXPECT_EQ(s.at(front).follower, static_cast<int>(on_main));
}

TEST(RoadState, RanksVehiclesBeforeTheStopLine) {
  Scene s(priority_merge().road());
  const auto first = s.add(kMain, "main_0", 290, 10);
  const auto cv = s.add(kMain, "main_0", 250, 10, true);
  const auto second_cv = s.add(kMain, "main_0", 200, 10, true);
  const auto left_cv = s.add(kMain, "main_1", 150, 10, true);
  s.step();
  EXPECT_EQ(s.at(first).ahead, 0);
  EXPECT_EQ(s.at(first).behind, 2);
  EXPECT_EQ(s.at(cv).ahead, 1);
  EXPECT_TRUE(s.at(cv).first_cv);
  EXPECT_FALSE(s.at(second_cv).first_cv);
  EXPECT_TRUE(s.at(left_cv).first_cv);
  EXPECT_DOUBLE_EQ(s.at(cv).line_m, 50);
}

TEST(RoadState, CountsQueuesBacklogDensityAndPasses) {
  Scene s(priority_merge().road());
  s.add(kRamp, "ramp_0", 290, 1);
  const auto passing = s.add(kRamp, "ramp_0", 295, 8);
  s.add(kMain, "out_0", 10, 5);
  s.add(kMain, "out_0", 200, 15);
  s.events().waiting = {{&s.plan(kMain), 1.0}, {&s.plan(kMain), 1.0}, {nullptr, 1.0}};
  s.step();
  s.move(passing, "out_0", 2, 8);
  s.step();
  const ConflictState& c = s.state().conflicts()[0];
  const int ramp_index = s.road().conflicts[0].approaches[0].edge == edge(s.road(), "ramp") ? 0 : 1;
  const auto& ramp = c.approaches[static_cast<std::size_t>(ramp_index)];
  const auto& main = c.approaches[static_cast<std::size_t>(1 - ramp_index)];
  EXPECT_EQ(ramp.vehicles, 1);
  EXPECT_EQ(ramp.queue, 1);
  EXPECT_EQ(ramp.passed_30s, 1);
  EXPECT_DOUBLE_EQ(ramp.near_density, 1 / 0.2);
  EXPECT_EQ(ramp.backlog, 0);
  EXPECT_EQ(main.backlog, 2);
  EXPECT_DOUBLE_EQ(main.near_speed_mps, 20);          // empty: the limit
  EXPECT_DOUBLE_EQ(c.zone_density, 2 / (2 * 0.150));  // two of the three on out, two lanes
  EXPECT_DOUBLE_EQ(c.zone_speed_mps, (5.0 + 8.0) / 2);
  EXPECT_DOUBLE_EQ(c.downstream_density, 1 / (2 * 0.250));
}

TEST(RoadState, ForgetsPassesAndArrivalsAfterThirtySeconds) {
  Scene s(priority_merge().road());
  const auto id = s.add(kRamp, "ramp_0", 295, 8);
  s.step();
  s.state().arrive(id);
  s.step();
  EXPECT_EQ(s.state().arrived_30s(), 1);
  for (int i = 0; i < 31; ++i) s.step();
  EXPECT_EQ(s.state().arrived_30s(), 0);
  for (const auto& a : s.state().conflicts()[0].approaches) EXPECT_EQ(a.passed_30s, 0);
}

TEST(RoadState, GrowthOfTheNumeratorAddsUpToTheScore) {
  Scene s(priority_merge().road());
  const auto a = s.add(kRamp, "ramp_0", 0, 10);
  const auto b = s.add(kMain, "main_0", 0, 10);
  double sum = 0;
  double last = 0;
  const auto account = [&] {
    s.step();
    sum += s.state().score().numerator() - last;
    last = s.state().score().numerator();
  };
  account();
  s.move(a, "ramp_0", 140, 10);
  s.move(b, "main_0", 210, 10);
  account();
  EXPECT_NEAR(last, (140 + 210) / 700.0, 1e-12);
  s.move(a, "out_0", 50, 10);
  account();
  s.state().arrive(a);
  account();
  EXPECT_NEAR(last, 1 + 210 / 700.0, 1e-12);
  EXPECT_NEAR(sum, last, 1e-12);
  EXPECT_EQ(s.state().score().arrived, 1);
  EXPECT_NEAR(s.state().score().completion_sum, 210 / 700.0, 1e-12);
}

TEST(RoadState, AConflictGetsTheRestOfTheRouteWhenAVehiclePassesIt) {
  Scene s(priority_merge().road());
  const auto a = s.add(kRamp, "ramp_0", 0, 10);
  s.step();
  s.move(a, "ramp_0", 70, 10);
  s.step();
  EXPECT_NEAR(s.state().conflict_numerators()[0], 70 / 700.0, 1e-12);
  s.move(a, "out_0", 5, 10);
  s.step();
  EXPECT_NEAR(s.state().conflict_numerators()[0], 1.0, 1e-12);
  s.move(a, "out_0", 300, 10);
  s.step();
  EXPECT_NEAR(s.state().conflict_numerators()[0], 1.0, 1e-12);  // counted at the passage
}

TEST(RoadState, RemovedVehiclesLoseTheirProgress) {
  Scene s(priority_merge().road());
  const auto a = s.add(kMain, "main_0", 0, 10);
  s.step();
  s.move(a, "main_0", 70, 10);
  s.step();
  s.state().remove(a);
  s.step();
  EXPECT_NEAR(s.state().score().numerator(), 0, 1e-12);
  EXPECT_NEAR(s.state().conflict_numerators()[0], 0, 1e-12);
  EXPECT_EQ(s.state().score().removed, 1);
}

TEST(RoadState, VehiclesWithoutALaneAreAwayUntilTheyReturn) {
  Scene s(priority_merge().road());
  s.add(kMain, "main_0", 100, 10);
  const auto b = s.add(kMain, "main_0", 50, 10);
  s.add(kMain, "main_0", 10, 10);
  s.step();
  s.state().find(b)->lane = -1;
  s.step();
  EXPECT_EQ(s.state().vehicles().size(), 2U);
  ASSERT_EQ(s.state().away().size(), 1U);
  EXPECT_EQ(s.state().score().running, 3);
  s.move(b, "out_0", 5, 10);
  s.step();
  ASSERT_EQ(s.state().vehicles().size(), 3U);
  EXPECT_EQ(s.state().vehicles()[1].id, b);  // back in the order of departure
}

TEST(RoadState, AVehicleThatReturnsHasNotBraked) {
  Scene s(priority_merge().road());
  const auto a = s.add(kMain, "main_0", 100, 20);
  s.step();
  s.state().find(a)->lane = -1;
  s.step();
  s.move(a, "main_0", 110, 1);
  s.step();
  EXPECT_EQ(s.at(a).accel_mps2, 0);
  EXPECT_EQ(s.state().score().hard_brakes, 0);
}

TEST(RoadState, CountsTheTimeLossOfVehiclesUntilTheyLeave) {
  Scene s(priority_merge().road());
  const auto gone = s.add(kRamp, "ramp_0", 0, 10);
  const auto parked = s.add(kMain, "main_0", 0, 10);
  s.step();
  s.state().find(parked)->lane = -1;
  s.state().find(parked)->time_loss_s += 2;
  s.state().find(gone)->time_loss_s += 7;
  s.step();
  const double lost_s = s.at(parked).time_loss_s + s.at(gone).time_loss_s;
  EXPECT_NEAR(s.state().score().time_loss_s, lost_s, 1e-12);
  s.state().find(gone)->time_loss_s += 3;
  s.state().remove(gone);
  s.state().pass_through(/*arrived=*/false, /*time_loss_s=*/0.5, /*waited_s=*/4);
  const EpisodeScore& score = s.state().score();
  EXPECT_NEAR(score.time_loss_s, lost_s + 3 + 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(score.depart_delay_s, 4);
  EXPECT_EQ(score.departed, 3);
  EXPECT_EQ(score.removed, 2);
  EXPECT_EQ(score.arrived, 0);
  EXPECT_NEAR(s.state().conflict_losses_s()[0], lost_s + 3, 1e-12);
}

TEST(RoadState, CountsEmissionsUntilVehiclesLeave) {
  Scene s(priority_merge().road());
  const auto id = s.add(kMain, "main_0", 0, 10);
  s.step();
  s.state().find(id)->step_emissions = {.co2_g = 2, .fuel_g = 1, .electricity_wh = 0.5};
  s.state().find(id)->step_driven_m = 10;
  s.events().waiting = {{.plan = &s.plan(kMain), .waited_s = 2, .idle_per_s = {.co2_g = 0.25}}};
  s.step();
  s.state().find(id)->step_emissions.co2_g = 3;
  s.state().arrive(id);
  const EpisodeScore& score = s.state().score();
  EXPECT_DOUBLE_EQ(score.road_emissions.co2_g, 2 + 3);
  EXPECT_DOUBLE_EQ(score.road_emissions.fuel_g, 1 + 1);
  EXPECT_DOUBLE_EQ(score.road_emissions.electricity_wh, 0.5 + 0.5);
  EXPECT_DOUBLE_EQ(score.driven_m, 10 + 10);
  EXPECT_DOUBLE_EQ(score.waiting_emissions.co2_g, 0.5);
  EXPECT_DOUBLE_EQ(s.state().conflict_parts(Term::kCo2)[0], 2 + 3 + 0.5);
  EXPECT_DOUBLE_EQ(s.state().conflict_parts(Term::kElectricity)[0], 1);
  EXPECT_DOUBLE_EQ(s.state().conflict_parts(Term::kDistance)[0], 20);
}

TEST(RoadState, DelaysBelongToTheFirstConflictOfTheRoute) {
  Scene s(priority_merge().road());
  s.events().waiting = {{&s.plan(kMain), 1.5}, {nullptr, 1.0}};
  s.step();
  EXPECT_DOUBLE_EQ(s.state().score().depart_delay_s, 2.5);
  EXPECT_EQ(s.state().score().waiting, 2);
  EXPECT_DOUBLE_EQ(s.state().conflict_losses_s()[0], 1.5);
}

TEST(RoadState, CountsHardBrakesOnceAndMeasuresAcceleration) {
  Scene s(priority_merge().road());
  const auto a = s.add(kMain, "main_0", 10, 20);
  s.step();
  EXPECT_DOUBLE_EQ(s.at(a).accel_mps2, 0);
  for (const double speed : {16.0, 12.0, 11.0, 7.0}) {
    s.move(a, "main_0", s.at(a).lane_pos_m + speed, speed);
    s.step();
  }
  EXPECT_DOUBLE_EQ(s.at(a).accel_mps2, -4);
  EXPECT_EQ(s.state().score().hard_brakes, 2);  // from 20 to 12 m/s, and from 11 to 7 m/s
}

TEST(RoadState, RefusesAVehicleThatIsNotOnItsRoute) {
  Scene s(priority_merge().road());
  const auto a = s.add(kMain, "main_0", 10, 20);
  s.step();
  s.move(a, "ramp_0", 10, 20);
  EXPECT_THROW(s.step(), Error);
}

TEST(RoadState, InsideAJunctionAVehicleHasPassedTheStopLine) {
  auto road = std::make_shared<Road>(read_road(merge_net()));
  Scene s(road);
  const std::vector<std::string> route = {"ramp", "mrg", "down"};
  const auto a = s.add(route, "ramp_0", 320, 10);
  s.step();
  EXPECT_EQ(s.at(a).conflict, 0);
  EXPECT_NEAR(s.at(a).line_m, 3.05, 1e-6);
  s.move(a, ":b_0_0", 1.0, 10);
  s.step();
  EXPECT_EQ(s.at(a).conflict, -1);
  EXPECT_EQ(s.at(a).route_index, 1);
  EXPECT_NEAR(s.at(a).edge_pos_m, -2.40, 1e-6);
  EXPECT_NEAR(s.at(a).lane_end_m, 168.93 + 2.40, 1e-6);
  EXPECT_TRUE(s.at(a).in_zone);
}

}  // namespace
}  // namespace traffic::scene
