#include "train/rollouts/outcomes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/rollouts/selection_runs.h"

namespace traffic::train {
namespace {

std::vector<EpisodeOutcome> with_emergency_stops(const std::vector<std::int64_t>& counts) {
  std::vector<EpisodeOutcome> outcomes;
  for (const std::int64_t count : counts) {
    outcomes.emplace_back();
    outcomes.back().score.emergency_stops = count;
  }
  return outcomes;
}

TEST(SafetyExcess, IsTheIncreaseOverNoControlBeyondItsInterval) {
  const auto none = with_emergency_stops({0, 1, 0, 0});
  EXPECT_EQ(safety_excess(none, none), 0.0);
  EXPECT_EQ(safety_excess(with_emergency_stops({0, 1, 2, 0}), none), 0.0);
  EXPECT_EQ(safety_excess(with_emergency_stops({0, 0, 0, 0}), none), 0.0);
  // The differences are 3, 4, 4 and 4. Their mean is 3.75, and the half-width of the interval is
  // 3.182 * .5 / 2.
  EXPECT_NEAR(safety_excess(with_emergency_stops({3, 5, 4, 4}), none), 3.75 - 0.7956, 1e-3);
}

TEST(SafetyExcess, IsZeroUpToTheLimitThatTheUserSets) {
  const auto none = with_emergency_stops({0, 0, 0, 0});
  const auto some = with_emergency_stops({3, 4, 4, 4});
  EXPECT_GT(safety_excess(some, none, 1.0), 0.0);
  EXPECT_EQ(safety_excess(some, none, 4.0), 0.0);
}

TEST(ScriptsToBeat, AreTheImitatedAdvisingOrInitialScripts) {
  using ::testing::ElementsAre;
  config::Config config;
  config.env.scenarios = {"merge", "corridor"};
  config.vehicles.advisor = "";
  EXPECT_TRUE(scripts_to_beat(config).empty());
  config.vehicles.advisor = "meter";
  EXPECT_THAT(scripts_to_beat(config), ElementsAre("meter", "meter"));
  config.env.agents = {"vehicles", "lights"};
  EXPECT_THAT(scripts_to_beat(config), ElementsAre("greedy+meter", "greedy+meter"));
  config.imitation.iterations = 2;
  config.imitation.controllers = {"meter", "yield"};
  EXPECT_THAT(scripts_to_beat(config), ElementsAre("greedy+meter", "greedy+yield"));
  config.env.agents = {"lights"};
  EXPECT_THAT(scripts_to_beat(config), ElementsAre("greedy", "greedy"));
}

TEST(Gains, AreComputedFromTheObjective) {
  EpisodeOutcome none;
  none.score.departed = 10;
  none.score.arrived = 5;
  none.score.time_loss_s = 80;
  none.score.depart_delay_s = 20;
  EpisodeOutcome controlled = none;
  controlled.score.arrived = 6;
  controlled.score.time_loss_s = 70;
  EXPECT_DOUBLE_EQ(gains_over({controlled}, {none}, scene::Objective::kThroughput)[0], 20.0);
  EXPECT_DOUBLE_EQ(gains_over({controlled}, {none}, scene::Objective::kDelay)[0], 10.0);
  none.score.driven_m = controlled.score.driven_m = 1000;
  none.score.road_emissions.co2_g = 200;
  controlled.score.road_emissions.co2_g = 160;
  EXPECT_DOUBLE_EQ(gains_over({controlled}, {none}, scene::Objective::kCo2)[0], 20.0);
}

TEST(RolloutFigures, LeaveOutEmissionsThatWereNotMeasured) {
  const auto names = [](const EpisodeOutcome& outcome) {
    std::vector<std::string> found;
    for (const auto& [name, value] : rollout_figures({outcome}, 0.0)) found.push_back(name);
    return found;
  };
  EpisodeOutcome outcome;
  outcome.score.driven_m = 1000;
  EXPECT_THAT(names(outcome), ::testing::Not(::testing::Contains("rollout/co2_g_per_km")));
  outcome.score.road_emissions.co2_g = 200;
  EXPECT_THAT(names(outcome), ::testing::Contains("rollout/co2_g_per_km"));
}

}  // namespace
}  // namespace traffic::train
