/// Runs the training dqn as users do, on short episodes of the shipped scenario `merge`.
#include <algorithm>
#include <set>

#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DqnTraining : public RunFolderTest {
 protected:
  /// The command of a short training with episodes of a minute. Later arguments override earlier
  /// ones.
  [[nodiscard]] std::string command(int ranks, const std::string& run,
                                    const std::string& arguments = "",
                                    const std::string& environment = "X=1") const {
    return command_of(
        {.ranks = ranks,
         .config = "dqn.toml",
         .run = run,
         .arguments = "--set env.max_time_s=60 --set rollout.workers=1 "
                      "--set rollout.envs_per_worker=4 --set episodes.train_batch_size=28 "
                      "--set episodes.rollout_fragment_length=7 --set episodes.baseline_episodes=4 "
                      "--set offpolicy.learning_starts=40 --set offpolicy.n_step=3 "
                      "--set offpolicy.batch_size=16 --set evaluation.seeds= "
                      "--set episodes.baseline_cache=" +
                      (dir_ / "cache").string() + " " + arguments,
         .environment = environment});
  }
};

TEST_F(DqnTraining, KilledAndResumedItEndsWithTheSameBits) {
  const std::string advised = "--set vehicles.advisor='meter(density=10)'";
  ASSERT_EQ(run_program(command(2, "whole", advised)).exit_code, 0);
  for (const char* fault : {"dqn.collect:1:1:kill", "dqn.collect:0:4:kill"}) {
    const Outcome killed =
        run_program(command(2, "cut", advised, std::string("TRAFFIC_FAULT=") + fault));
    ASSERT_NE(killed.exit_code, 0) << killed.output;
  }
  const Outcome resumed = run_program(command(2, "cut", advised));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("going on from checkpoint"));
  EXPECT_GT(summary("whole")["result"]["updates"], 5);
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
  auto whole = summary("whole")["result"];
  auto cut = summary("cut")["result"];
  for (auto* result : {&whole, &cut}) result->erase("controller");  // a path in the run's folder
  EXPECT_EQ(whole, cut);
  const auto figures = figures_of_learning("whole");
  EXPECT_EQ(figures, figures_of_learning("cut"));
  std::set<double> margins;
  for (const auto& row : figures) {
    if (row.contains("eval/advice_margin")) margins.insert(row["eval/advice_margin"].get<double>());
  }
  EXPECT_GT(margins.size(), 1U) << "evaluations must try several advice margins";
  EXPECT_EQ(checkpoint_parts("whole"), checkpoint_parts("cut"));
}

TEST_F(DqnTraining, ContinuesOnAnotherNumberOfRanksWithTheWholeReplay) {
  ASSERT_EQ(run_program(command(2, "run", "--set training.iterations=4")).exit_code, 0);
  for (const int ranks : {1, 3}) {
    const Outcome outcome = run_program(
        command(ranks, "run", "--set training.iterations=" + std::to_string(4 + ranks)));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("took over the replay's streams of its simulations"));
    EXPECT_EQ(summary("run")["world_size"], ranks);
    std::vector<nlohmann::json> all = figures_of_learning("run");
    std::erase_if(all, [](const auto& row) { return !row.contains("replay/transitions"); });
    EXPECT_EQ(all.back()["replay/transitions"], 28 * (4 + ranks));
  }
}

TEST_F(DqnTraining, ItsCheckpointIsAController) {
  ASSERT_EQ(run_program(command(1, "run", "--set training.iterations=3")).exit_code, 0);
  const std::string controller = "checkpoint:" + (dir_ / "run/checkpoints/best.h5").string();
  const Outcome compared =
      run_program(TRAFFIC_BIN_DIR
                  "/traffic_eval --scenario merge --set env.max_time_s=60 --controller none "
                  "--controller " +
                  controller + " --seeds 1..2");
  EXPECT_EQ(compared.exit_code, 0) << compared.output;
  EXPECT_THAT(compared.output, HasSubstr("checkpoint"));
  const Outcome onwards = run_program(command(
      1, "second", "--set training.iterations=1 --set run.init_from=" + controller.substr(11)));
  EXPECT_EQ(onwards.exit_code, 0) << onwards.output;
  EXPECT_THAT(onwards.output, HasSubstr("perception, controller, its target and optimiser"));
}

TEST_F(DqnTraining, WithAnAdvisorItBeginsAsThatScript) {
  const std::string script = "'meter(density=10)'";
  const Outcome trained = run_program(
      command(2, "run",
              "--set vehicles.advisor=" + script +
                  " --set vehicles.top_k=10 --set env.zone_m=100 --set training.iterations=1 "
                  "--set env.max_time_s=300 --set offpolicy.learning_starts=20000"));
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  const Outcome compared = run_program(
      TRAFFIC_BIN_DIR "/traffic_eval --set env.max_time_s=300 --seeds 1..2 --controller " + script +
      " --controller checkpoint:" + (dir_ / "run/checkpoints/best.h5").string() + " --json " +
      (dir_ / "eval.json").string());
  ASSERT_EQ(compared.exit_code, 0) << compared.output;
  std::ifstream file(dir_ / "eval.json");
  const auto controllers = nlohmann::json::parse(file)["controllers"];
  EXPECT_GT(controllers[0]["cv_steps"], 0);
  EXPECT_EQ(controllers[0]["cv_steps"], controllers[1]["cv_steps"]);
  EXPECT_EQ(controllers[0]["ocr_all"], controllers[1]["ocr_all"]);
}

TEST_F(DqnTraining, SettingsOfOtherTrainingsAreRefused) {
  const auto refused = [&](const std::string& arguments, int code, const char* text) {
    const Outcome outcome = run_program(command(1, "refused", arguments));
    EXPECT_EQ(outcome.exit_code, code) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(text));
  };
  refused("--set offpolicy.learner=sac", 2, "offpolicy.learner is sac");
  refused("--set vehicles.longitudinal=acceleration", 2,
          "Q-learning estimates a value for each command");
  refused("--set episodes.rollout_fragment_length=0", 2, "learn from fragments of episodes");
  refused("--set 'env.cv_types=[\"nobody\"]'", 2, "no vehicle is of type");
  refused("--set offpolicy.buffer_size=1000000000", 8, "lower offpolicy.buffer_size");
}

}  // namespace
}  // namespace traffic::test
