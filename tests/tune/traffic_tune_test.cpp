/// The program on real trainings, as small as they can be.
#include <csignal>
#include <sstream>

#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TrafficTuneTest : public RunFolderTest {
 protected:
  void SetUp() override {
    RunFolderTest::SetUp();
    write_table("");
  }
  void write_table(const std::string& more, const std::string& rates = "[0.001, 0.003, 0.005]",
                   const std::string& figure = "outflow_vph") const {
    std::ofstream(dir_ / "table.toml")
        << "config = \"configs/rl_only.toml\"\ndir = \"" << (dir_ / "study").string() << "\"\n"
        << "search = \"grid\"\nbudgets = [1, 3]\ntraining_seeds = [1, 2]\nkeep = 0.4\n"
        << "figure = \"" << figure << "\"\n"
        << "set = [\"env.max_time_s=60\", \"rollout.workers=1\", \"rollout.envs_per_worker=2\", "
           "\"episodes.train_batch_size=40\", \"ppo.minibatch_size=20\", "
           "\"episodes.baseline_episodes=2\", "
           "\"training.eval_episodes=2\", \"training.eval_interval=1\", \"episodes.baseline_cache="
        << (dir_ / "cache").string() << "\"]\n"
        << more << "[keys]\nppo.learning_rate = " << rates << "\n";
  }
  [[nodiscard]] std::string command() const {
    return "cd " TRAFFIC_SOURCE_DIR " && " TRAFFIC_BIN_DIR "/traffic_tune " +
           (dir_ / "table.toml").string();
  }
  /// Runs the command in a shell of its own: run_program() starts it by the program timeout, which
  /// cannot run the shell's cd.
  [[nodiscard]] Outcome run(const std::string& more = "") const {
    return run_program("sh -c '" + command() + more + "'");
  }
  [[nodiscard]] fs::path run_of(int trial, int seed) const {
    return dir_ / "study" / ("trial-00" + std::to_string(trial)) / ("seed-" + std::to_string(seed));
  }
};

TEST_F(TrafficTuneTest, BetterTrialsContinueAndNothingIsTrainedTwice) {
  // A job of an array (--trial) trains one trial with the first budget. The search then uses the
  // result.
  const Outcome job = run(" --trial 1");
  ASSERT_EQ(job.exit_code, 0) << job.output;
  EXPECT_TRUE(fs::exists(run_of(1, 2) / "summary.json"));
  EXPECT_FALSE(fs::exists(run_of(0, 1)));
  const auto trained_at = fs::last_write_time(run_of(1, 1).string() + ".json");

  const Outcome all = run();
  ASSERT_EQ(all.exit_code, 0) << all.output;
  EXPECT_THAT(all.output, AllOf(HasSubstr("ppo.learning_rate"), HasSubstr("minus the best")));
  const auto study = json("study/tune.json");
  ASSERT_EQ(study["trials"].size(), 3U);
  // keep = 0.4 keeps two of the three trials, rounded up. All trials have both training seeds.
  EXPECT_EQ(study["trials"][0]["budget"], 3);
  EXPECT_EQ(study["trials"][1]["budget"], 3);
  EXPECT_EQ(study["trials"][2]["budget"], 1);
  for (const auto& trial : study["trials"]) EXPECT_EQ(trial["by_seed"].size(), 2U);
  const int best = study["trials"][0]["trial"];
  EXPECT_EQ(summary(run_of(best, 1))["steps"], 3);
  if (study["trials"][2]["trial"] == 1) {
    EXPECT_EQ(fs::last_write_time(run_of(1, 1).string() + ".json"), trained_at);
  }
  // Training seed 2 of trial 2 ran with the settings of this trial.
  std::ifstream config(run_of(2, 2) / "config.toml");
  std::stringstream text;
  text << config.rdbuf();
  EXPECT_THAT(text.str(), AllOf(HasSubstr("learning_rate = 0.005"), HasSubstr("seed = 2")));

  const auto before = fs::last_write_time(run_of(best, 1) / "summary.json");
  const Outcome again = run(" --json");
  ASSERT_EQ(again.exit_code, 0) << again.output;
  EXPECT_EQ(fs::last_write_time(run_of(best, 1) / "summary.json"), before);
  EXPECT_EQ(json("study/tune.json"), study);
}

TEST_F(TrafficTuneTest, AFolderOfOtherSettingsIsRefused) {
  write_table("", "[0.001]");
  ASSERT_EQ(run(" --trial 0").exit_code, 0);
  // To compare the same trainings by another metric needs no training.
  const auto trained_at = fs::last_write_time(run_of(0, 1).string() + ".json");
  write_table("", "[0.001]", "gain");
  const Outcome other_figure = run(" --trial 0");
  EXPECT_EQ(other_figure.exit_code, 0) << other_figure.output;
  EXPECT_EQ(fs::last_write_time(run_of(0, 1).string() + ".json"), trained_at);
  write_table("", "[0.002]");
  const Outcome refused = run(" --trial 0");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.output,
              AllOf(HasSubstr("has trainings with other settings"),
                    HasSubstr("was learning_rate = 0.001, is now learning_rate = 0.002")));
}

TEST_F(TrafficTuneTest, ErrorsAreReportedBeforeAnythingIsTrained) {
  write_table("", "[0.001, -1.0]");
  const Outcome refused = run();
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.output, AllOf(HasSubstr("ppo.learning_rate"), HasSubstr("-1")));
  EXPECT_FALSE(fs::exists(dir_ / "study"));

  write_table("ranks = 0\n");
  EXPECT_EQ(run().exit_code, 2);
  write_table("");
  EXPECT_THAT(run(" --trial 3").output, HasSubstr("the table has trials 0 to 2"));
  const Outcome trials = run(" --dry-run");
  EXPECT_EQ(trials.exit_code, 0);
  EXPECT_THAT(trials.output, HasSubstr("trial 2: ppo.learning_rate=0.005"));
}

TEST_F(TrafficTuneTest, AnUnknownMetricIsNamedWithTheKnownOnes) {
  write_table("", "[0.001]", "ouflow");
  const Outcome job = run(" --trial 0");
  EXPECT_EQ(job.exit_code, 2);
  EXPECT_THAT(job.output, AllOf(HasSubstr("'ouflow'"), HasSubstr("outflow_vph")));
}

TEST_F(TrafficTuneTest, AfterASignalTheSameCommandContinuesFromTheSaves) {
  write_table("ranks = 2\n", "[0.001]");
  std::ofstream(dir_ / "long.sh") << "cd " TRAFFIC_SOURCE_DIR "\nexec " TRAFFIC_BIN_DIR
                                     "/traffic_tune "
                                  << (dir_ / "table.toml").string() << " --jobs 1\n";
  BackgroundProgram study("sh " + (dir_ / "long.sh").string());
  for (int i = 0; i < 600 && !fs::exists(run_of(0, 1) / "metrics.jsonl"); ++i) usleep(50'000);
  study.send(SIGINT);
  EXPECT_EQ(study.wait(), 75);
  EXPECT_FALSE(fs::exists(dir_ / "study/tune.json"));
  const Outcome on = run(" --jobs 1");
  ASSERT_EQ(on.exit_code, 0) << on.output;
  EXPECT_THAT(on.output, Not(HasSubstr("given up")));
  EXPECT_EQ(json("study/tune.json")["trials"][0]["budget"], 3);
}

}  // namespace
}  // namespace traffic::test
