#include "rollout/traffic/traffic_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>
#include <string>

#include "rollout/pool/environment_loop.h"
#include "rollout/pool/pool_fixture.h"
#include "rollout/traffic/order_codec.h"
#include "rollout/traffic/period_codec.h"
#include "traffic/core/error.h"
#include "traffic/sim/env_options.h"

namespace traffic::rollout {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

PoolPlan plan() {
  PoolPlan plan = testing::small_plan();
  plan.geometry.command_bytes = 100'000;
  config::Config config;
  config.env.agents = {"vehicles", "lights"};
  config.env.control_period_s = 5;
  plan.geometry.reply_bytes = period_bytes(config);
  return plan;
}

/// Runs the rank and a real SUMO simulation in one thread.
class TrafficEnvironmentTest : public ::testing::Test {
 protected:
  TrafficEnvironmentTest() { config_.env.scenario = "merge"; }

  void start() {
    environment_.emplace(config_, 0);
    loop_.emplace(*environment_, sim_);
    sim_.announce_ready();
  }

  const Period& reset(const EpisodeSpec& spec) {
    loop_.emplace(*environment_, sim_);
    rank_.post(CommandKind::kReset, 0, write_episode(spec));
    return answer();
  }
  const Period& step(std::span<const scene::Command> commands = {},
                     std::span<const scene::SignalCommand> greens = {}) {
    Orders orders;
    if (config_.env.vehicles_act()) orders.add(kVehicles, commands);
    if (config_.env.lights_act()) orders.add(kLights, greens);
    write_orders(orders, orders_);
    rank_.post(CommandKind::kStep, incarnation_, orders_);
    return answer();
  }
  const Period& answer() {
    loop_->serve(0);
    EXPECT_NE(rank_.answer().kind, ReplyKind::kLost);
    read_period(rank_.reply_buffer().first(rank_.answer().size), period_);
    EXPECT_EQ(rank_.answer().kind == ReplyKind::kEnd, period_.done());
    return period_;
  }
  /// Runs the episode to its end without commands. @return growth of the score over all periods
  double run_to_end() {
    double growth = 0;
    while (!period_.done()) {
      step();
      growth = std::accumulate(period_.growth.begin(), period_.growth.end(), growth);
    }
    return growth;
  }

  config::Config config_;
  PoolMemory memory_ = PoolMemory::create(plan());
  RankSlot rank_{memory_.slot(0)};
  WorkerSlot worker_{memory_.slot(0), memory_.bell(0)};
  std::uint32_t incarnation_ = worker_.begin_incarnation();
  EnvSlot sim_{memory_.slot(0), memory_.bell(0), incarnation_};
  std::optional<TrafficEnvironment> environment_;
  std::optional<EnvironmentLoop> loop_;
  Period period_;
  std::vector<std::byte> orders_;
};

TEST_F(TrafficEnvironmentTest, AResetShowsTheEmptyRoadAndAPeriodAllItsFrames) {
  start();
  const Period& first = reset({.traffic = {.seed = 3}});
  EXPECT_THAT(first.of<VehicleSection>().frames, SizeIs(1));
  EXPECT_THAT(first.growth, IsEmpty());
  EXPECT_EQ(first.time_s, 0.0);
  for (int p = 1; p <= 40; ++p) {
    step();
    ASSERT_THAT(period_.of<VehicleSection>().frames, SizeIs(3));
    for (int f = 0; f < 3; ++f)
      EXPECT_EQ(period_.of<VehicleSection>().frames[f].time_s, 3.0 * (p - 1) + f + 1);
    EXPECT_EQ(period_.time_s, 3.0 * p);
    EXPECT_THAT(period_.growth, SizeIs(3));
    EXPECT_THAT(period_.conflict_growth, SizeIs(3 * period_.num_conflicts));
  }
  EXPECT_GT(period_.of<VehicleSection>().frames.back().num_nodes(), 10);
  EXPECT_GT(period_.of<VehicleSection>().frames.back().num_edges(), 10);
}

TEST_F(TrafficEnvironmentTest, GrowthAddsUpToTheScoreAndTheScenarioEndsTheEpisode) {
  start();
  reset({.traffic = {.seed = 3}, .observed = false});
  const double growth = run_to_end();
  EXPECT_TRUE(period_.terminated);
  EXPECT_FALSE(period_.truncated);
  EXPECT_EQ(period_.time_s, 900.0);
  // The tolerance is for sums of the same numbers in another order.
  EXPECT_NEAR(growth, period_.score.numerator(), 1e-9 * growth);
  EXPECT_THAT(period_.of<VehicleSection>().frames, IsEmpty());
  EXPECT_EQ(rank_.counters().episodes, 1U);
  EXPECT_EQ(rank_.counters().steps, 900U);
}

TEST_F(TrafficEnvironmentTest, AControllerOfLightsActsBesideTheTrainedVehicles) {
  config_.env.scenario = "arterial";
  config_.env.max_time_s = 240;
  start();
  reset({.traffic = {.seed = 3}, .observed = false});
  run_to_end();
  const double alone_s = period_.score.delay_s();
  EXPECT_EQ(period_.score.signal_changes, 0);
  config_.env.beside = "greedy";
  start();
  reset({.traffic = {.seed = 3}, .observed = false});
  run_to_end();
  EXPECT_GT(period_.score.signal_changes, 10);
  EXPECT_LT(period_.score.delay_s(), alone_s);
}

/// Three lights, all vehicles connected, four minutes; control periods of five seconds.
class JointEnvironmentTest : public TrafficEnvironmentTest {
 protected:
  JointEnvironmentTest() {
    config_.env.scenario = "arterial";
    config_.env.max_time_s = 240;
    config_.env.control_period_s = 5;
    config_.env.agents = {"vehicles", "lights"};
  }
};

TEST_F(JointEnvironmentTest, VehiclesAndLightsActInOneSimulation) {
  config_.lights.encoder_layers = 1;
  start();
  reset({.traffic = {.seed = 3}});
  ASSERT_EQ(period_.of<LightSection>().cost_s.size(), 3U);
  double lost_before_lights_s = 0;
  std::size_t choices = 0;
  while (!period_.done()) {
    EXPECT_EQ(period_.of<LightSection>().graph.num_nodes(),
              period_.of<LightSection>().choices.empty() ? 0 : 3);
    std::vector<scene::SignalCommand> greens;
    for (const LightChoice& choice : period_.of<LightSection>().choices) {
      greens.push_back({choice.light, (choice.present + 1) % choice.num_greens});
    }
    choices += greens.size();
    std::vector<scene::Command> commands;
    for (const scene::Candidate& candidate : period_.of<VehicleSection>().candidates) {
      const auto node = static_cast<std::size_t>(candidate.node);
      commands.push_back({.vehicle_id = period_.of<VehicleSection>().frames.back().vehicle_id[node],
                          .longitudinal = scene::Longitudinal::kFast,
                          .hold_s = 5});
    }
    step(commands, greens);
    lost_before_lights_s += std::accumulate(period_.of<LightSection>().cost_s.begin(),
                                            period_.of<LightSection>().cost_s.end(), 0.0);
  }
  EXPECT_GT(period_.score.signal_changes, 20);
  EXPECT_GE(choices, static_cast<std::size_t>(period_.score.signal_changes));
  EXPECT_GT(period_.score.interventions, 100);
  EXPECT_GT(lost_before_lights_s, 0.5 * period_.score.lost_s());
  EXPECT_LE(lost_before_lights_s, period_.score.lost_s() * (1 + 1e-9));
}

TEST_F(JointEnvironmentTest, CostsOfLightsMayIncludeCo2) {
  config_.env.objective = "delay+co2";
  start();
  double growth_co2 = 0;
  double growth_m = 0;
  const auto costs_s = [&](const LightCost& cost) {
    reset({.traffic = {.seed = 3}, .light_cost = cost});
    double sum = growth_co2 = growth_m = 0;
    while (!period_.done()) {
      step();
      for (std::size_t i = 0; i < period_.growth.size(); i += 3) {
        growth_co2 += period_.growth[i + 1];
        growth_m += period_.growth[i + 2];
      }
      const auto& costs = period_.of<LightSection>().cost_s;
      sum = std::accumulate(costs.begin(), costs.end(), sum);
    }
    return sum;
  };
  const double lost_s = costs_s({});
  EXPECT_NEAR(growth_co2, -period_.score.emissions().co2_g, 1e-6);
  EXPECT_NEAR(growth_m, period_.score.driven_m, 1e-6);
  const double co2_g = costs_s({.delay = 0, .co2_s_per_g = 1});
  EXPECT_GT(co2_g, 0.3 * period_.score.emissions().co2_g);
  EXPECT_LT(co2_g, period_.score.emissions().co2_g);
  EXPECT_NEAR(costs_s({.delay = 1, .co2_s_per_g = 2}), lost_s + 2 * co2_g, 1e-6);
  EXPECT_LT(costs_s({.delay = 0, .co2_s_per_g = 1, .distance_s_per_m = -0.1}), co2_g);
}

TEST_F(JointEnvironmentTest, LightsAloneShowNoVehiclesAndFollowAScript) {
  config_.env.agents = {"lights"};
  start();
  reset({.traffic = {.seed = 3}});
  std::size_t choices = 0;
  while (!period_.done()) {
    EXPECT_THAT(period_.of<VehicleSection>().frames, IsEmpty());
    EXPECT_THAT(period_.of<VehicleSection>().candidates, IsEmpty());
    choices += period_.of<LightSection>().choices.size();
    step();
  }
  EXPECT_GT(choices, 20U);
  const double own_programs_s = period_.score.lost_s();
  reset({.traffic = {.seed = 3}, .controller = "greedy", .observed = false});
  double lost_before_lights_s = 0;
  while (!period_.done()) {
    EXPECT_THAT(period_.of<LightSection>().choices, IsEmpty());
    step();
    lost_before_lights_s += std::accumulate(period_.of<LightSection>().cost_s.begin(),
                                            period_.of<LightSection>().cost_s.end(), 0.0);
  }
  EXPECT_GT(period_.score.signal_changes, 20);
  EXPECT_GT(lost_before_lights_s, 0.0);
  EXPECT_LT(period_.score.lost_s(), own_programs_s);
}

TEST_F(JointEnvironmentTest, WithoutControlLightsShowTheirPrograms) {
  config_.env.agents = {"vehicles"};
  start();
  reset({.traffic = {.seed = 3}, .observed = false});
  run_to_end();
  const double alone_s = period_.score.lost_s();
  config_.env.agents = {"vehicles", "lights"};
  start();
  reset({.traffic = {.seed = 3}, .observed = false});
  while (!period_.done()) {
    EXPECT_THAT(period_.of<LightSection>().choices, IsEmpty());
    step();
  }
  EXPECT_EQ(period_.score.signal_changes, 0);
  EXPECT_EQ(period_.score.lost_s(), alone_s);
}

TEST_F(TrafficEnvironmentTest, AnEpisodeCutByTheConfigurationIsTruncated) {
  config_.env.max_time_s = 31;
  start();
  reset({.traffic = {.seed = 3}});
  run_to_end();
  EXPECT_TRUE(period_.truncated);
  EXPECT_FALSE(period_.terminated);
  EXPECT_EQ(period_.time_s, 31.0);
  EXPECT_THAT(period_.growth, SizeIs(1)) << "only one second is left for the last period";
  EXPECT_THAT(period_.of<VehicleSection>().frames, SizeIs(1));
}

TEST_F(TrafficEnvironmentTest, APieceBeginsInSavedTrafficOfAnUncontrolledEpisode) {
  const auto cache =
      std::filesystem::path(::testing::TempDir()) / ("traffic-pieces-" + std::to_string(getpid()));
  config_.episodes.baseline_cache = cache.string();
  config_.env.max_time_s = 400;
  start();
  const PieceStore store{.piece_s = 120, .key = 7, .saves = true};
  reset({.traffic = {.seed = 11, .saved_seed = 11},
         .controller = "none",
         .observed = true,
         .store = store});
  std::vector<std::int64_t> nodes;
  std::vector<double> growth;
  while (!period_.done()) {
    if (period_.time_s == 240.0)
      nodes.push_back(period_.of<VehicleSection>().frames.back().num_nodes());
    step();
    if (period_.time_s <= 240.0) continue;
    growth.insert(growth.end(), period_.growth.begin(), period_.growth.end());
  }
  ASSERT_EQ(nodes.size(), 1U);
  const PieceStore pieces{.piece_s = 120, .key = 7};
  reset({.traffic = {.seed = 12, .piece = 2, .saved_seed = 11}, .store = pieces});
  EXPECT_EQ(period_.time_s, 240.0);
  EXPECT_THAT(period_.growth, IsEmpty());
  // The last half minute was simulated with other random numbers.
  EXPECT_NEAR(static_cast<double>(period_.of<VehicleSection>().frames.back().num_nodes()),
              static_cast<double>(nodes[0]), 10.0);
  const double in_piece = run_to_end();
  EXPECT_TRUE(period_.truncated);
  EXPECT_EQ(period_.time_s, 360.0);
  const double in_whole = std::accumulate(growth.begin(), growth.begin() + 120, 0.0);
  EXPECT_NEAR(in_piece, in_whole, 0.25 * in_whole);
  // The first piece needs no saved traffic, and the last piece ends with the episode.
  reset({.traffic = {.seed = 12}, .store = pieces});
  EXPECT_EQ(period_.time_s, 0.0);
  run_to_end();
  EXPECT_EQ(period_.time_s, 120.0);
  reset({.traffic = {.seed = 12, .piece = 3, .saved_seed = 11}, .store = pieces});
  run_to_end();
  EXPECT_EQ(period_.time_s, 400.0);
  std::filesystem::remove_all(cache);
}

TEST_F(TrafficEnvironmentTest, CommandsReachTheVehiclesAndTheirEffectsAreCounted) {
  config_.env.max_time_s = 300;
  start();
  reset({.traffic = {.seed = 3}});
  std::int64_t steps_under_control = 0;
  std::vector<scene::Command> commands;
  while (!period_.done()) {
    commands.clear();
    for (const scene::Candidate& candidate : period_.of<VehicleSection>().candidates) {
      const auto node = static_cast<std::size_t>(candidate.node);
      commands.push_back({.vehicle_id = period_.of<VehicleSection>().frames.back().vehicle_id[node],
                          .longitudinal = scene::Longitudinal::kStop,
                          .hold_s = 3.0});
    }
    step(commands);
    for (const ControlledVehicle& vehicle : period_.of<VehicleSection>().controlled) {
      EXPECT_LE(vehicle.steps, 3);
      EXPECT_LE(vehicle.hard_brakes, vehicle.steps);
      EXPECT_LE(vehicle.unsafe_steps, vehicle.steps);
      steps_under_control += vehicle.steps;
    }
  }
  EXPECT_GT(steps_under_control, 100);
  EXPECT_EQ(steps_under_control, period_.score.cv_steps);
}

TEST_F(TrafficEnvironmentTest, AScriptActsAsItDoesWithoutThePool) {
  config_.env.max_time_s = 450;
  scene::EpisodeScore expected;
  {
    sim::SumoEnv env(sim::env_options(config_.env));
    const auto controller = scene::make_controller("meter");
    controller->reset(5);
    std::vector<scene::Command> commands;
    // `meter` decides in every step.
    for (env.reset(5); !env.done(); env.step()) {
      commands.clear();
      controller->decide(env.state(), commands);
      env.apply(commands);
    }
    expected = env.score();
  }
  ASSERT_GT(expected.cv_steps, 0);
  start();
  reset({.traffic = {.seed = 5}, .controller = "meter"});
  std::size_t scripted = 0;
  while (!period_.done()) {
    step();
    scripted += period_.of<VehicleSection>().scripted.size();
  }
  EXPECT_EQ(period_.score.numerator(), expected.numerator());
  EXPECT_EQ(period_.score.cv_steps, expected.cv_steps);
  EXPECT_GT(scripted, 0U);
}

TEST_F(TrafficEnvironmentTest, AnAdvisingScriptReportsCommandsAndChangesNothing) {
  config_.env.max_time_s = 450;
  start();
  reset({.traffic = {.seed = 5}});
  run_to_end();
  const scene::EpisodeScore alone = period_.score;
  reset({.traffic = {.seed = 5}, .controller = "meter", .advises = true});
  std::size_t advised = 0;
  while (!period_.done()) {
    step();
    advised += period_.of<VehicleSection>().scripted.size();
  }
  EXPECT_GT(advised, 0U);
  EXPECT_EQ(period_.score.cv_steps, 0);
  EXPECT_EQ(period_.score.numerator(), alone.numerator());
}

TEST_F(TrafficEnvironmentTest, FollowingTheAdviceEqualsRunningTheScript) {
  config_.env.max_time_s = 450;
  config_.vehicles.advisor = "meter";
  start();
  // A rank that follows all advice gives the same episode as the script itself, which decides every
  // second, also between decisions of the rank.
  reset({.traffic = {.seed = 5}});
  std::size_t advised = 0;
  while (!period_.done()) {
    const std::vector<scene::Command> advice(period_.of<VehicleSection>().advice.begin(),
                                             period_.of<VehicleSection>().advice.end());
    advised += advice.size();
    step(advice);
    EXPECT_TRUE(period_.of<VehicleSection>().scripted.empty());
  }
  EXPECT_GT(advised, 0U);
  const scene::EpisodeScore followed = period_.score;
  reset({.traffic = {.seed = 5}, .controller = "meter"});
  run_to_end();
  EXPECT_EQ(followed.numerator(), period_.score.numerator());
  EXPECT_EQ(followed.cv_steps, period_.score.cv_steps);
  // If an episode is not observed, but only gives a score, it has no advice.
  reset({.traffic = {.seed = 5}, .observed = false});
  while (!period_.done()) {
    step();
    EXPECT_TRUE(period_.of<VehicleSection>().advice.empty());
  }
}

TEST_F(TrafficEnvironmentTest, BetweenDecisionsTheAdvisorSkipsVehiclesThatDeviate) {
  config_.env.max_time_s = 450;
  config_.vehicles.advisor = "meter";
  start();
  reset({.traffic = {.seed = 5}});
  std::size_t refused = 0;
  std::size_t come_since = 0;
  while (!period_.done()) {
    std::vector<std::uint32_t> otherwise;
    for (const scene::Command& command : period_.of<VehicleSection>().advice)
      otherwise.push_back(command.vehicle_id);
    step();  // gives no commands, against the advice
    refused += otherwise.size();
    come_since += period_.of<VehicleSection>().controlled.size();
    for (const ControlledVehicle& vehicle : period_.of<VehicleSection>().controlled) {
      EXPECT_THAT(otherwise, ::testing::Not(::testing::Contains(vehicle.vehicle_id)));
    }
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(come_since, 0U);
  // In uncontrolled runs there is no advice.
  reset({.traffic = {.seed = 5}, .observed = false});
  run_to_end();
  EXPECT_EQ(period_.score.cv_steps, 0);
}

TEST_F(TrafficEnvironmentTest, DemandCanBeScaledForOneEpisode) {
  config_.env.max_time_s = 200;
  start();
  reset({.traffic = {.seed = 3, .demand_scale = 0.5}, .observed = false});
  run_to_end();
  const auto half = period_.score.departed + period_.score.waiting;
  reset({.traffic = {.seed = 3}, .observed = false});
  run_to_end();
  const auto whole = period_.score.departed + period_.score.waiting;
  EXPECT_GT(half, whole / 3);
  EXPECT_LT(half, 2 * whole / 3);
}

TEST_F(TrafficEnvironmentTest, AStepForAnEpisodeOfAnEarlierProcessIsLost) {
  start();
  rank_.post(CommandKind::kStep, incarnation_, {});
  loop_->serve(0);
  EXPECT_EQ(rank_.answer().kind, ReplyKind::kLost) << "a step needs an episode that has begun";
  reset({.traffic = {.seed = 3}});
  rank_.post(CommandKind::kStep, incarnation_ - 1, {});
  loop_->serve(0);
  EXPECT_EQ(rank_.answer().kind, ReplyKind::kLost) << "the episode belongs to an earlier process";
}

TEST_F(TrafficEnvironmentTest, APeriodThatIsNotAMultipleOfTheStepIsRefused) {
  config_.env.control_period_s = 1.5;
  start();
  EXPECT_THAT([&] { environment_->try_out(); },
              ThrowsMessage<ConfigError>(HasSubstr("env.control_period_s")));
}

}  // namespace
}  // namespace traffic::rollout
