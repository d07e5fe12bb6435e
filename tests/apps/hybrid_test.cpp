/// Runs all phases of traffic_train in one run as users do, with few steps and short episodes.
#include "hybrid_fixture.h"
#include "traffic/checkpoint/file.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kPhases = 3;

TEST_F(HybridTest, EachPhaseStartsFromThePreviousBestWithFrozenParts) {
  const Outcome outcome = run_program(all_phases("run"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("RMSE on the test episodes"), HasSubstr("gain_%"),
                    HasSubstr("phase 1 has released its memory"), HasSubstr("meter")));
  const nlohmann::json whole = summary("run");
  EXPECT_EQ(whole["phase"], "all");
  EXPECT_EQ(whole["status"], "done");
  EXPECT_EQ(whole["faults"]["retries"], 0);
  EXPECT_TRUE(whole["result"]["phase1"].contains("speed_rmse_mps_frame5"));
  double seconds = 0;
  double learned_s = 0;
  double shares = 0;
  for (int phase = 1; phase <= kPhases; ++phase) {
    const nlohmann::json one = summary("run/phase" + std::to_string(phase));
    seconds += one["seconds"].get<double>();
    learned_s += one["seconds"].get<double>() * one["time_share"].value("learn", 0.0);
  }
  for (const auto& [name, share] : whole["time_share"].items()) shares += share.get<double>();
  EXPECT_NEAR(shares, 1.0, 1e-6);
  EXPECT_GT(learned_s, 0.0);
  EXPECT_NEAR(whole["time_share"].value("learn", 0.0), learned_s / seconds, 1e-6);
  std::ifstream page(dir_ / "run/report.html");
  const std::string html{std::istreambuf_iterator<char>(page), std::istreambuf_iterator<char>()};
  EXPECT_THAT(html,
              AllOf(HasSubstr("phase1: summary.json"), HasSubstr("Metrics/LagrangeMultiplier"),
                    HasSubstr("Metrics/EpCost"), HasSubstr("phase3/replay")));
  EXPECT_TRUE(fs::exists(dir_ / "run/phase3/replay/replay.html"));
  const auto first = checkpoint::load(dir_ / result_of("run", 1));
  for (int phase = 2; phase <= kPhases; ++phase) {
    const auto later = checkpoint::load(dir_ / result_of("run", phase));
    EXPECT_EQ(later.text("features"), first.text("features"))
        << "the settings of the world model's training are stored, too";
    EXPECT_EQ(later.text("training"), phase == 2 ? "ppo" : "ppo_constrained");
    int frozen = 0;
    for (const auto& [name, value] : first.values()) {
      if (!name.starts_with("model/") || !later.contains(name)) continue;
      EXPECT_TRUE(at::equal(first.tensor(name), later.tensor(name))) << name;
      ++frozen;
    }
    EXPECT_GT(frozen, 10);
    const nlohmann::json summary_of_phase = summary("run/phase" + std::to_string(phase));
    EXPECT_EQ(summary_of_phase["result"]["evaluation"].size(), 3U);
    EXPECT_TRUE(whole["result"]["phase" + std::to_string(phase)].contains("evaluation"));
    EXPECT_TRUE(fs::exists(dir_ / "run" / ("phase" + std::to_string(phase)) / "evaluation.json"));
  }
  // The same command again trains nothing, because the run is finished.
  const Outcome again = run_program(all_phases("run"));
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.output, HasSubstr("phase 2 is done"));
  EXPECT_EQ(summary("run")["parameters_xxh3"], whole["parameters_xxh3"]);
}

TEST_F(HybridTest, KilledInAndBetweenPhasesItEndsWithTheSameBits) {
  ASSERT_EQ(run_program(all_phases("whole")).exit_code, 0);
  for (const char* fault : {"train.step:1:5:kill", "loop.finish:0:6:kill", "plan.end:1:1:kill",
                            "plan.begin:0:2:kill", "phase2.collect:1:1:kill", "plan.end:0:2:kill",
                            "phase3.collect:0:1:kill", "plan.end:1:3:kill"}) {
    const Outcome killed =
        run_program(all_phases("cut", "", std::string("TRAFFIC_FAULT=") + fault));
    ASSERT_NE(killed.exit_code, 0) << fault;
  }
  const Outcome resumed = run_program(all_phases("cut"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  for (int phase = 1; phase <= kPhases; ++phase) {
    const std::string folder = "/phase" + std::to_string(phase);
    EXPECT_EQ(summary("cut" + folder)["parameters_xxh3"],
              summary("whole" + folder)["parameters_xxh3"])
        << phase;
  }
}

TEST_F(HybridTest, ARetriedPhaseEndsWithTheSameBits) {
  ASSERT_EQ(run_program(all_phases("whole")).exit_code, 0);
  const Outcome outcome =
      run_program(all_phases("run", "",
                             "TRAFFIC_FAULT=train.step:1:5:throw,phase2.collect:1:1:throw,"
                             "phase3.collect:0:1:throw"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("phase 1 failed: rank 1: fault throw at train.step"),
                    HasSubstr("phase 2 failed: rank 1: fault throw at phase2.collect"),
                    HasSubstr("phase 3 failed: rank 0: fault throw at phase3.collect")));
  EXPECT_EQ(summary("run")["faults"]["retries"], kPhases);
  EXPECT_EQ(summary("run")["parameters_xxh3"], summary("whole")["parameters_xxh3"]);
}

TEST_F(HybridTest, GivesUpAfterMaxRetriesAndSaysWhy) {
  const Outcome outcome = run_program(
      all_phases("run", "--set run.max_retries=1", "TRAFFIC_FAULT=train.step:0:*:throw"));
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_EQ(summary("run")["status"], "failed");
  EXPECT_THAT(summary("run")["message"], HasSubstr("fault throw"));
  EXPECT_EQ(summary("run")["faults"]["retries"], 1);
}

TEST_F(HybridTest, SaysBeforePhase1ThatSumoRefusesItsOptions) {
  const Outcome outcome =
      run_program(all_phases("run", "--set 'env.sumo_args=[\"--no-such-option\"]'"));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("No option with the name 'no-such-option' exists"));
  EXPECT_FALSE(fs::exists(dir_ / result_of("run", 1)));
}

TEST_F(HybridTest, EveryShippedConfigurationPassesTheDryRun) {
  for (const auto& entry : fs::directory_iterator(fs::path(TRAFFIC_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".toml") continue;
    const std::string name = entry.path().stem().string();
    if (name == "driving") continue;  // reads scenes; driving_training_test.cpp does its dry run
    const Outcome outcome = run_program(
        TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np 1 " TRAFFIC_BIN_DIR "/traffic_train " +
        entry.path().string() + " --dry-run --run-dir " + (dir_ / name).string() +
        " --set 'data.files=[\"" + (dir_ / "row.h5").string() +
        "\"]' --set env.max_time_s=30 --set rollout.workers=1 --set rollout.envs_per_worker=1 "
        "--set episodes.baseline_episodes=1 --set run.allow_random_perception=true "
        "--set episodes.baseline_cache=" +
        (dir_ / "cache").string());
    EXPECT_EQ(outcome.exit_code, 0) << name << ": " << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("dry run")) << name;
  }
}

}  // namespace
}  // namespace traffic::test
