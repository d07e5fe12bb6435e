#include "train/policy/policy_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "run/snapshot_parts.h"
#include "scene/traffic_fixture.h"
#include "support/run_program.h"
#include "traffic/checkpoint/file.h"
#include "traffic/config/write.h"
#include "train/policy/fit.h"
#include "train/policy/perception.h"
#include "train/policy/policy.h"

namespace traffic::train {
namespace {

using namespace scene::testing;  // NOLINT: vehicles placed by hand

/// Saves a checkpoint of a controller with random weights.
void save_controller(const config::Config& config, const std::filesystem::path& path,
                     Decides decides = Decides::kGreedy, double advice_margin = 0.0) {
  Perception perception(config, 1, torch::kCPU);
  Policy policy(config, perception.widths(), torch::kCPU);
  if (advice_margin > 0.0) {
    const torch::NoGradGuard no_grad;
    // With this weight the policy prefers all commands to the advised one.
    policy.controller()->named_parameters()["advice.weight"].neg_();
  }
  checkpoint::Snapshot snapshot(1);
  snapshot.put_text("config", config::to_toml(config));
  snapshot.put_text("policy_hash", policy_hash(config));
  put_parameters(snapshot, policy.parameters());
  put_decides(snapshot, decides);
  put_advice_margin(snapshot, advice_margin);
  checkpoint::save(snapshot, path);
}

/// Times at which the controller decides in ten seconds of a simulation, which calls the controller
/// as an evaluation does.
std::vector<double> decision_times_s(double period_s, double step_s) {
  config::Config config;
  config.vehicles.inputs = {"features", "globals"};
  config.vehicles.longitudinal = "target_speed";
  config.env.control_period_s = period_s;
  const TempFile file("controller.h5", "");
  save_controller(config, file.path());
  const auto controller = make_policy_controller({.path = file.path()});
  controller->reset(1);

  Scene s(priority_merge().road());
  s.state().reset(step_s, 100.0);
  const auto cv = s.add(kMain, "main_0", 240, 0, /*is_cv=*/true);
  std::vector<double> times_s;
  double next_s = 0;
  for (int i = 0; i * step_s < 10.0 - 1e-6; ++i) {
    s.events().time_s = i * step_s;
    s.state().update(s.events());
    if (s.state().time_s() < next_s - 1e-6) continue;
    std::vector<scene::Command> commands;
    controller->decide(s.state(), commands);
    if (!commands.empty()) times_s.push_back(s.state().time_s());
    for (const scene::Command& command : commands) {
      EXPECT_EQ(command.vehicle_id, cv);
      EXPECT_EQ(command.longitudinal, scene::Longitudinal::kTargetSpeed);
      EXPECT_EQ(command.hold_s, period_s);
    }
    next_s += controller->period_s();
  }
  return times_s;
}

/// An evaluation must decide at the same times as a training, which decides once per control
/// period.
TEST(PolicyController, DecidesAtTheEndOfEveryControlPeriod) {
  for (const double period_s : {0.5, 1.0, 1.5, 2.5, 3.0}) {
    for (const double step_s : {0.1, 0.25, 0.5}) {
      SCOPED_TRACE(::testing::Message() << "period " << period_s << " s, step " << step_s << " s");
      std::vector<double> wanted_s;
      for (int i = 0; i * period_s < 10.0 - 1e-6; ++i) wanted_s.push_back(i * period_s);
      EXPECT_THAT(decision_times_s(period_s, step_s),
                  ::testing::Pointwise(::testing::DoubleNear(1e-6), wanted_s));
    }
  }
}

/// Target speeds that the controller commands to a connected vehicle on a merge in an episode with
/// this seed.
std::vector<double> target_speeds(scene::Controller& controller, std::uint64_t seed) {
  controller.reset(seed);
  Scene s(priority_merge().road());
  s.state().reset(1.0, 100.0);
  s.add(kMain, "main_0", 240, 0, /*is_cv=*/true);
  std::vector<double> speeds;
  for (int i = 0; i < 20; ++i) {
    s.events().time_s = i;
    s.state().update(s.events());
    std::vector<scene::Command> commands;
    controller.decide(s.state(), commands);
    for (const scene::Command& command : commands) speeds.push_back(command.value);
  }
  return speeds;
}

TEST(PolicyController, FollowsTheCheckpointAndSamplesReproducibly) {
  config::Config config;
  config.vehicles.inputs = {"features", "globals"};
  config.vehicles.longitudinal = "target_speed";
  config.env.control_period_s = 1;
  const TempFile file("controller.h5", "");
  save_controller(config, file.path(), Decides::kSampled);
  const auto sampled = make_policy_controller({.path = file.path()});
  const auto speeds = target_speeds(*sampled, 7);
  ASSERT_EQ(speeds.size(), 20U);
  EXPECT_EQ(target_speeds(*sampled, 7), speeds);
  EXPECT_NE(target_speeds(*sampled, 8), speeds);
  EXPECT_EQ(target_speeds(*make_policy_controller({.path = file.path()}), 7), speeds);
  const auto greedy = make_policy_controller({.path = file.path(), .decides = Decides::kGreedy});
  EXPECT_NE(target_speeds(*greedy, 7), speeds);
  EXPECT_EQ(target_speeds(*greedy, 7), target_speeds(*greedy, 8));
}

/// Whether each of two connected vehicles is commanded to drive fast. The script commands this only
/// to vehicles near the stop line.
struct Fast {
  bool near = false;
  bool far = false;
};

Fast told_to_drive_fast(double advice_margin) {
  config::Config config;
  config.vehicles.inputs = {"features", "globals"};
  config.vehicles.advisor = "brisk(to_m=100)";
  config.vehicles.lane_change = false;
  config.env.control_period_s = 1;
  config.env.zone_m = 300;
  const TempFile file("controller.h5", "");
  save_controller(config, file.path(), Decides::kGreedy, advice_margin);
  const auto controller = make_policy_controller({.path = file.path()});
  controller->reset(1);
  Scene s(priority_merge().road());
  s.state().reset(1.0, 100.0);
  const auto near = s.add(kMain, "main_0", 240, 0, /*is_cv=*/true);
  const auto far = s.add(kMain, "main_0", 100, 0, /*is_cv=*/true);
  s.events().time_s = 0;
  s.state().update(s.events());
  std::vector<scene::Command> commands;
  controller->decide(s.state(), commands);
  const auto is_fast = [&](const auto& vehicle) {
    return std::ranges::any_of(commands, [&](const scene::Command& command) {
      return command.vehicle_id == vehicle && command.longitudinal == scene::Longitudinal::kFast;
    });
  };
  return {.near = is_fast(near), .far = is_fast(far)};
}

TEST(PolicyController, ConsultsItsAdvisor) {
  const Fast untrained = told_to_drive_fast(0.0);
  EXPECT_TRUE(untrained.near) << "an untrained controller follows the script";
  EXPECT_FALSE(untrained.far);
}

TEST(PolicyController, UsesTheAdviceMarginOfItsCheckpoint) {
  EXPECT_FALSE(told_to_drive_fast(1e-6).near);
  const Fast leaning = told_to_drive_fast(1e3);
  EXPECT_TRUE(leaning.near);
  EXPECT_FALSE(leaning.far);
}

/// A short episode and a controller without encodings.
config::Config small_config() {
  config::Config config;
  config.vehicles.inputs = {"features", "globals"};
  config.env.max_time_s = 10;
  return config;
}

test::Outcome evaluate(const std::filesystem::path& checkpoint, const std::string& arguments) {
  return test::run_program(std::string(TRAFFIC_BIN_DIR) + "/traffic_eval --seeds 1 --jobs 1 " +
                           "--controller checkpoint:" + checkpoint.string() + " " + arguments);
}

TEST(PolicyController, AForeignCheckpointCannotOverwriteFiles) {
  const TempFile victim("victim.txt", "mine");
  const TempFile file("stranger.h5", "");
  config::Config config = small_config();
  config.env.sumo_args = {"--log", victim.path().string()};
  save_controller(config, file.path());
  const auto outcome = evaluate(file.path(), "");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_THAT(outcome.output, ::testing::HasSubstr("env.sumo_args"));
  EXPECT_THAT(outcome.output, ::testing::HasSubstr("--set"));
  std::ifstream in(victim.path());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "mine");
  const auto without = evaluate(file.path(), "--set 'env.sumo_args=[]'");
  EXPECT_EQ(without.exit_code, 0) << without.output;
}

TEST(PolicyController, AForeignCheckpointCannotNameAScenarioFile) {
  const TempFile file("stranger.h5", "");
  config::Config config = small_config();
  config.env.scenario = "/tmp/unpacked/evil.sumocfg";
  save_controller(config, file.path());
  const auto outcome = evaluate(file.path(), "");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_THAT(outcome.output, ::testing::HasSubstr("--scenario '/tmp/unpacked/evil.sumocfg'"));
  EXPECT_EQ(evaluate(file.path(), "--scenario merge").exit_code, 0);
  config.env.scenario = "merge";
  config.env.scenarios = {"merge:1", "/tmp/unpacked/evil.sumocfg:1"};
  save_controller(config, file.path());
  EXPECT_EQ(evaluate(file.path(), "").exit_code, 2);
}

TEST(PolicyFit, TheErrorNamesTheSettingsThatDiffer) {
  config::Config config;
  const TempFile file("controller.h5", "");
  save_controller(config, file.path());
  const checkpoint::Snapshot snapshot = checkpoint::load(file.path());
  EXPECT_NO_THROW(check_policy_fits(snapshot, config));
  config.vehicles.advisor = "meter";
  config.vehicles.hidden_dim += 1;
  try {
    check_policy_fits(snapshot, config);
    FAIL() << "a checkpoint with other settings was accepted";
  } catch (const CheckpointError& error) {
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr(R"(vehicles.advisor = "", this run has "meter")"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("vehicles.hidden_dim = "));
    EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("vehicles.layers")));
  }
}

}  // namespace
}  // namespace traffic::train
