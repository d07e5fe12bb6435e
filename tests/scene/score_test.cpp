#include "traffic/scene/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traffic/core/error.h"

namespace traffic::scene {
namespace {

TEST(Score, CountsWaitingVehiclesAsDemand) {
  EpisodeScore s;
  s.departed = 80;
  s.waiting = 20;
  s.arrived = 50;
  s.completion_sum = 10;
  s.seconds = 900;
  EXPECT_DOUBLE_EQ(s.ocr_all(), 0.6);
  EXPECT_DOUBLE_EQ(s.ocr_departed(), 0.75);
  EXPECT_DOUBLE_EQ(s.outflow_vph(), 200);
}

/// If SUMO deletes vehicles that wait too long, a jam must not raise the score.
TEST(Score, CountsDiscardedVehiclesAsDemand) {
  EpisodeScore s;
  s.departed = 95;
  s.waiting = 0;
  s.discarded = 145;
  s.arrived = 60;
  s.time_loss_s = 1200;
  EXPECT_EQ(s.demand(), 240);
  EXPECT_DOUBLE_EQ(s.ocr_all(), 0.25);
  EXPECT_DOUBLE_EQ(s.delay_s(), 5);
}

TEST(Score, TrafficIsSaturatedIfVehiclesAreDiscarded) {
  constexpr double kStep_s = 1.0;
  EpisodeScore s;  // trips of 100 s without losses; a third of the demand is discarded
  s.seconds = 3600;
  s.departed = 1000;
  s.arrived = 970;
  s.running = 30;
  s.completion_sum = 15;
  s.vehicle_steps = 105 * 1000;
  s.time_loss_s = 6.5 * 1000;
  EXPECT_FALSE(is_saturated(s, kStep_s));
  s.discarded = 500;
  s.depart_delay_s = 500 * 30;
  EXPECT_TRUE(is_saturated(s, kStep_s));
}

TEST(Score, AnEmptyEpisodeHasScoreZero) {
  const EpisodeScore s;
  EXPECT_EQ(s.ocr_all(), 0);
  EXPECT_EQ(s.mean_speed_mps(), 0);
  EXPECT_EQ(s.outflow_vph(), 0);
}

TEST(Score, MeansAreOverVehicleSteps) {
  EpisodeScore s;
  s.vehicle_steps = 2;
  s.speed_sum = 10 + 20;
  s.speed_square_sum = 100 + 400;
  s.abs_accel_sum = 3;
  EXPECT_DOUBLE_EQ(s.mean_speed_mps(), 15);
  EXPECT_DOUBLE_EQ(s.speed_deviation_mps(), 5);
  EXPECT_DOUBLE_EQ(s.mean_abs_accel_mps2(), 1.5);
}

TEST(Score, DelayIncludesWaitingVehicles) {
  EpisodeScore s;
  EXPECT_EQ(s.delay_s(), 0);
  s.departed = 8;
  s.waiting = 2;
  s.time_loss_s = 60;
  s.depart_delay_s = 40;
  EXPECT_DOUBLE_EQ(s.delay_s(), 10);
}

TEST(Score, VehiclesStillOnTheWayDoNotMeanSaturation) {
  EpisodeScore s;
  s.seconds = 900;
  s.departed = 100;
  s.arrived = 70;
  s.running = 30;
  s.completion_sum = 15;  // ocr_all 0.85
  constexpr double kStep_s = 0.5;
  s.vehicle_steps = 2 * 85 * 270;  // trips take 270 s without losses: ocr_all is at most 0.85
  EXPECT_FALSE(is_saturated(s, kStep_s));
  s.vehicle_steps = 2 * 30 * 450;  // the number of vehicles has grown evenly from 0 to 30
  s.time_loss_s =
      30.0 * 450 - 85.0 * 70;  // without losses trips take 70 s: ocr_all is at most 0.96
  EXPECT_TRUE(is_saturated(s, kStep_s));
  s.time_loss_s = 0;
  s.waiting = 3;
  EXPECT_TRUE(is_saturated(s, kStep_s));
}

TEST(Score, SlowTripsOfAConstantNumberOfVehiclesAreNoSaturation) {
  constexpr double kStep_s = 1.0;
  EpisodeScore s;  // traffic lights: trips take 180 s, and would take 100 s without losses
  s.seconds = 380;
  s.departed = 329;
  s.waiting = 3;
  s.arrived = 172;
  s.running = 157;
  s.completion_sum = 78;
  s.vehicle_steps = 45'600;  // each vehicle is on the road for 180 s, or until now
  s.time_loss_s = 45'600 - 250.0 * 100;
  EXPECT_TRUE(is_steady(s, kStep_s));
  EXPECT_FALSE(is_saturated(s, kStep_s));
  s.vehicle_steps = 157 * 190;  // the same number of vehicles now, but it has grown evenly from 0
  s.time_loss_s = 157.0 * 190 - 250.0 * 100;
  EXPECT_TRUE(is_saturated(s, kStep_s));
}

TEST(Score, TrafficAtAStandstillIsSaturatedThoughNoMoreVehiclesEnter) {
  constexpr double kStep_s = 1.0;
  EpisodeScore s;  // a jam from the first minute on: almost all vehicles are in it
  s.seconds = 1000;
  s.departed = 300;
  s.arrived = 10;
  s.running = 290;
  s.completion_sum = 30;
  s.vehicle_steps = 280'000;
  s.time_loss_s = 280'000 - 40.0 * 100;
  EXPECT_TRUE(is_saturated(s, kStep_s));
}

TEST(Score, IsNotKnownToBeSaturatedWhileTheNetworkFills) {
  constexpr double kStep_s = 1.0;
  EpisodeScore s;  // trips of 140 s without losses, 161 s after the first departure
  s.seconds = 161;
  s.departed = 964;
  s.waiting = 2;
  s.arrived = 100;
  s.running = 864;
  s.completion_sum = 350;
  s.vehicle_steps = 450 * 180;
  s.time_loss_s = 450.0 * 40;
  EXPECT_FALSE(is_steady(s, kStep_s));
  EXPECT_FALSE(is_saturated(s, kStep_s));
  s.seconds = 450;
  EXPECT_TRUE(is_steady(s, kStep_s));
  EXPECT_TRUE(is_saturated(s, kStep_s));
}

TEST(Score, IsNotSteadyBeforeAnyVehicleHasDriven) {
  EpisodeScore s;
  s.seconds = 1000;
  s.waiting = 10;
  EXPECT_FALSE(is_steady(s, 1.0));
}

TEST(Score, EmissionsPerKilometreIncludeVehiclesThatWait) {
  EpisodeScore s;
  EXPECT_EQ(s.emissions_per_km().co2_g, 0);
  EXPECT_FALSE(s.has_emissions());
  s.driven_m = 4000;
  s.departed = 2;
  s.road_emissions = {.co2_g = 600, .fuel_g = 200, .electricity_wh = 10};
  EXPECT_TRUE(s.has_emissions());
  EXPECT_DOUBLE_EQ(s.emissions_per_km().co2_g, 150);
  EXPECT_DOUBLE_EQ(s.emissions_per_km().fuel_g, 50);
  EXPECT_DOUBLE_EQ(s.emissions_per_km().electricity_wh, 2.5);
  EXPECT_DOUBLE_EQ(s.emissions_per_vehicle().co2_g, 300);
  s.waiting = 2;
  s.waiting_emissions = {.co2_g = 200, .electricity_wh = 2};
  EXPECT_DOUBLE_EQ(s.emissions_per_km().co2_g, 200);
  EXPECT_DOUBLE_EQ(s.emissions_per_km().electricity_wh, 3);
  EXPECT_DOUBLE_EQ(s.emissions_per_vehicle().co2_g, 200);
}

TEST(Score, HoldingAllVehiclesOutsideIsNoGainInCo2) {
  EpisodeScore none;
  none.departed = 100;
  none.driven_m = 1e5;
  none.road_emissions.co2_g = 2e4;
  EpisodeScore outside;
  outside.waiting = 100;
  outside.waiting_emissions.co2_g = 1e4;
  EXPECT_LT(gain_percent(compared_scores(outside), compared_scores(none), Objective::kCo2), -1e3);
}

double gain(const ComparedScores& scores, const ComparedScores& over, const Objective& objective) {
  return gain_percent(scores, over, objective);
}

TEST(GainPercent, IsPositiveForMoreThroughputOrLessCost) {
  EXPECT_NEAR(gain({.ocr_all = 0.55}, {.ocr_all = 0.5}, Objective::kThroughput), 10.0, 1e-12);
  EXPECT_NEAR(gain({.ocr_all = 0.4}, {.ocr_all = 0.4}, Objective::kThroughput), 0.0, 1e-12);
  EXPECT_NEAR(gain({.ocr_all = 0.84}, {.ocr_all = 0.8}, Objective::kThroughput), 5.0, 1e-12);
  EXPECT_NEAR(gain({.delay_s = 30}, {.delay_s = 40}, Objective::kDelay), 25.0, 1e-12);
  EXPECT_NEAR(gain({.delay_s = 50}, {.delay_s = 40}, Objective::kDelay), -25.0, 1e-12);
  EXPECT_NEAR(gain({.co2_g_per_km = 180}, {.co2_g_per_km = 200}, Objective::kCo2), 10.0, 1e-12);
  EXPECT_NEAR(
      gain({.electricity_wh_per_km = 90}, {.electricity_wh_per_km = 120}, Objective::kElectricity),
      25.0, 1e-12);
  EXPECT_EQ(gain({.ocr_all = 0.5}, {}, Objective::kThroughput), 0.0);  // no baseline
}

TEST(GainPercent, OfAWeightedSumIsTheWeightedMean) {
  const ComparedScores none{.delay_s = 40, .co2_g_per_km = 200};
  const ComparedScores controlled{.delay_s = 20, .co2_g_per_km = 180};
  EXPECT_NEAR(gain(controlled, none, {.delay = 0.75, .co2 = 0.25}), 40.0, 1e-12);
}

TEST(Objectives, HaveNamesAndTerms) {
  const Objective sum{.delay = 0.75, .co2 = 0.25};
  EXPECT_EQ(name_of(sum), "0.75*delay_s+0.25*co2_g_per_km");
  EXPECT_EQ(terms_of(sum), (std::vector{Term::kDelay, Term::kCo2, Term::kDistance}));
  EXPECT_EQ(name_of(Objective::kElectricity), "electricity_wh_per_km");
  EXPECT_EQ(terms_of(Objective::kDelay), (std::vector{Term::kDelay}));
}

TEST(Objectives, NeedTrafficWithTheirEmissions) {
  require_emissions(Objective::kDelay, "merge", {});
  require_emissions(Objective::kCo2, "merge", {.co2_g = 1});
  require_emissions(Objective::kElectricity, "merge", {.electricity_wh = 1});
  EXPECT_THAT([] { require_emissions({.delay = 0.5, .co2 = 0.5}, "merge", {.electricity_wh = 1}); },
              ::testing::ThrowsMessage<ConfigError>(
                  ::testing::HasSubstr("vehicles of scenario merge emit no CO2")));
  EXPECT_THROW(require_emissions(Objective::kElectricity, "merge", {.co2_g = 1}), ConfigError);
}

}  // namespace
}  // namespace traffic::scene
