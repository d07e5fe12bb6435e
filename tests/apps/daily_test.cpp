/// Does what a user does in a day, with the real programs and scripts. The test starts, watches,
/// stops and continues a training, trains with another seed, compares both runs and opens the
/// report.
#include <string>
#include <tuple>
#include <utility>

#include "support/browser.h"
#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Runs in a folder that looks like the repository after a build.
class DailyTest : public RunFolderTest {
 protected:
  void SetUp() override {
    RunFolderTest::SetUp();
    for (const char* name : {"configs", "launch", ".deps"}) {
      fs::create_symlink(fs::path(TRAFFIC_SOURCE_DIR) / name, dir_ / name);
    }
    for (const char* name : {"traffic_train", "traffic_status", "traffic_report"}) {
      fs::create_symlink(fs::path(TRAFFIC_BIN_DIR) / name, dir_ / name);
    }
  }
  void TearDown() override {
    // Stops runs that are still detached after a failed test.
    for (const char* run : {"one", "two"}) {
      if (fs::exists(dir_ / run / "launch.pid")) {
        run_program(in_folder(std::string("launch/manage.sh stop ") + run));
      }
    }
    RunFolderTest::TearDown();
  }

  [[nodiscard]] std::string in_folder(const std::string& command,
                                      const std::string& environment = "") const {
    return "env -C " + dir_.string() + " " + environment + " " + command;
  }
  /// The arguments of a short training with episodes of two minutes, and with a tiny controller
  /// that reads features but no encodings of the world model.
  [[nodiscard]] static std::string training(const std::string& run, int seed) {
    return "configs/rl_only.toml --run-dir " + run + " --seed " + std::to_string(seed) +
           " --set run.device=cpu --set env.max_time_s=120 --set rollout.workers=1 "
           "--set rollout.envs_per_worker=2 --set vehicles.hidden_dim=16 --set "
           "training.iterations=5 "
           "--set episodes.train_batch_size=80 --set ppo.minibatch_size=40 --set ppo.num_epochs=2 "
           "--set training.eval_interval=2 --set training.eval_episodes=2 --set "
           "episodes.baseline_episodes=2 "
           "--set evaluation.seeds=1..2 --set comm.timeout_s=120 --set "
           "episodes.baseline_cache=cache";
  }
};

TEST_F(DailyTest, StartWatchStopContinueCompareAndReport) {
  const Outcome started = run_program(in_folder("launch/manage.sh start " + training("one", 1),
                                                "TRAFFIC_FAULT=phase2.collect:0:2:slow:20000"));
  ASSERT_EQ(started.exit_code, 0) << started.output;
  EXPECT_THAT(started.output, HasSubstr("stop it: launch/manage.sh stop one"));
  ASSERT_TRUE(wait_for_step("one", 2, 60));
  const Outcome text = run_program(in_folder("launch/manage.sh status one"));
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.output, AllOf(HasSubstr("one: running"), HasSubstr("traffic_train"),
                                 HasSubstr("the last line of the log is")));
  const Outcome status = run_program(in_folder("./traffic_status one --json"));
  const auto state = nlohmann::json::parse(status.output, nullptr, false);
  ASSERT_TRUE(state.is_array()) << status.output;
  for (const char* program : {"traffic_train", "rollout_worker", "sumo_env"}) {
    EXPECT_THAT(status.output, HasSubstr(program));
  }
  const Outcome stopped = run_program(in_folder("launch/manage.sh stop one"));
  EXPECT_THAT(stopped.output, HasSubstr("one: stopped"));
  EXPECT_EQ(summary("one")["status"], "stopped");

  for (const auto& [run, seed] : {std::pair{"one", 1}, std::pair{"two", 2}}) {
    const Outcome done = run_program(in_folder("launch/train.sh -n 2 " + training(run, seed)));
    ASSERT_EQ(done.exit_code, 0) << done.output;
    EXPECT_THAT(done.output, HasSubstr(std::string("done: open ") + run + "/report.html"));
    EXPECT_EQ(summary(run)["status"], "done");
  }

  const Outcome compared = run_program(in_folder("./traffic_report one two --terminal --metrics"));
  ASSERT_EQ(compared.exit_code, 0) << compared.output;
  EXPECT_THAT(compared.output, AllOf(HasSubstr("run.seed"), HasSubstr("\nmeter "),
                                     HasSubstr("eval/gain"), HasSubstr("memory/total_gib")));
  const Outcome as_json = run_program(in_folder("./traffic_report one two --json"));
  EXPECT_TRUE(nlohmann::json::parse(as_json.output, nullptr, false).is_object()) << as_json.output;

  for (const auto& [name, size, dark] :
       {std::tuple{"daily-light", "1280,2600", false}, std::tuple{"daily-dark", "1280,2600", true},
        std::tuple{"daily-narrow", "400,5200", true}}) {
    EXPECT_THAT(look_at(dir_ / "one/report.html", {.name = name, .size = size, .dark = dark}, dir_),
                ::testing::MatchesRegex("[0-9]+ pictures"))
        << name;
  }
}

}  // namespace
}  // namespace traffic::test
