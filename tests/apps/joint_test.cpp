/// Trains vehicles and traffic lights together as users do, on short episodes of the scenario
/// `arterial`.
#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// First seed of the final comparison, as in rollouts/baseline_runs.h.
constexpr int kFirstComparisonSeed = 850'000'000;

class JointTraining : public RunFolderTest {
 protected:
  /// The command of a training with episodes of two minutes. Later arguments override earlier ones.
  [[nodiscard]] std::string train(int ranks, const std::string& run,
                                  const std::string& arguments = "",
                                  const std::string& environment = "X=1") const {
    return command_of(
        {.ranks = ranks,
         .config = "joint.toml",
         .run = run,
         .arguments =
             "--set env.max_time_s=120 --set rollout.workers=2 --set rollout.envs_per_worker=1 "
             "--set training.iterations=2 --set episodes.train_batch_size=96 --set "
             "ppo.minibatch_size=48 "
             "--set training.eval_interval=2 --set training.eval_episodes=2 --set "
             "training.final_episodes=2 "
             "--set episodes.baseline_episodes=4 --set evaluation.seeds= --set "
             "episodes.baseline_cache=" +
             (dir_ / "cache").string() + " " + arguments,
         .environment = environment});
  }
};

TEST_F(JointTraining, KilledAndResumedItEndsWithTheSameBits) {
  ASSERT_EQ(run_program(train(2, "whole")).exit_code, 0);
  const Outcome killed = run_program(train(2, "cut", "", "TRAFFIC_FAULT=phase2.collect:1:1:kill"));
  ASSERT_NE(killed.exit_code, 0) << killed.output;
  const Outcome resumed = run_program(train(2, "cut"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("going on from checkpoint"));
  EXPECT_GT(summary("whole")["result"]["light_decisions"], 100);
  EXPECT_GT(summary("whole")["result"]["interventions"], 10);
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
  EXPECT_EQ(figures_of_learning("whole"), figures_of_learning("cut"));
}

/// Both policies have learned, and decide differently from the scripts that they begin as.
TEST_F(JointTraining, AnEvaluationDecidesAsTheTrainingDid) {
  const std::string learned =
      "--set ppo.target_kl=0 --set ppo.desired_kl=0 --set ppo.learning_rate=0.05 "
      "--set lights.ppo.target_kl=0 --set lights.ppo.learning_rate=0.1 ";
  ASSERT_EQ(run_program(train(1, "learned", learned)).exit_code, 0);
  const Outcome trained = run_program(train(
      1, "run",
      "--set training.iterations=1 --set ppo.learning_rate=1e-9 --set lights.ppo.num_epochs=1 "
      "--set lights.ppo.learning_rate=1e-9 --set run.init_from=" +
          (dir_ / "learned/checkpoints/step-000000002.h5").string()));
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  EXPECT_THAT(trained.output, HasSubstr("traffic lights"));
  const auto result = summary("run")["result"];
  const std::string sampled = result["decides"] == "sampled" ? ",sampled" : "";
  const Outcome evaluated = run_program(
      evaluate("--seeds " + std::to_string(kFirstComparisonSeed) + ".." +
               std::to_string(kFirstComparisonSeed + 1) +
               " --controller none --controller 'greedy+glide(top=200)' --controller checkpoint:" +
               best("run") + sampled + " --json " + (dir_ / "eval.json").string()));
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.output;
  const auto found = json("eval.json")["controllers"];
  EXPECT_NEAR(found[2]["delay_s"], result["delay_s"], 1e-9);
  EXPECT_NE(found[2]["delay_s"], found[1]["delay_s"]);
  EXPECT_GT(found[2]["signal_changes"], 0);
  EXPECT_GT(found[2]["interventions"], 0);
}

TEST_F(JointTraining, UntrainedPoliciesAreTheirScripts) {
  const Outcome trained = run_program(
      train(2, "run",
            "--set training.iterations=1 --set ppo.num_epochs=1 --set ppo.learning_rate=1e-9 "
            "--set ppo.final_learning_rate=1e-9 --set lights.ppo.learning_rate=1e-9 "
            "--set lights.ppo.final_learning_rate=1e-9"));
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  const Outcome evaluated =
      run_program(evaluate("--seeds 1..2 --controller none --controller 'greedy+glide(top=200)' "
                           "--controller checkpoint:" +
                           best("run") + " --json " + (dir_ / "eval.json").string()));
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.output;
  const auto found = json("eval.json")["controllers"];
  EXPECT_DOUBLE_EQ(found[2]["delay_s"], found[1]["delay_s"]);
}

TEST_F(JointTraining, BeginsWithLightsThatWereTrainedAlone) {
  const Outcome lights =
      run_program(command_of({.config = "signals.toml",
                              .run = "lights",
                              .arguments = "--set env.scenario=arterial "
                                           "--set env.max_time_s=60 --set evaluation.seeds="}));
  ASSERT_EQ(lights.exit_code, 0) << lights.output;
  const Outcome joint = run_program(
      train(1, "run", "--set training.iterations=1 --set run.init_from=" + best("lights")));
  ASSERT_EQ(joint.exit_code, 0) << joint.output;
  EXPECT_THAT(joint.output, HasSubstr("best.h5: traffic lights"));
}

TEST_F(JointTraining, ASimulationThatDiesCostsItsEpisodeAndNothingElse) {
  const Outcome outcome = run_program(
      train(1, "run", "--set training.iterations=1", "TRAFFIC_FAULT=sumo_env.step:0:900:kill"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("lost"));
  EXPECT_GE(summary("run")["faults"]["lost_episodes"], 1);
}

TEST_F(JointTraining, SettingsThatExcludeJointTrainingAreRefused) {
  const auto refused = [&](const std::string& arguments) {
    const Outcome outcome = run_program(train(1, "run", arguments));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
    return outcome.output;
  };
  EXPECT_THAT(refused("--set env.beside=greedy"), HasSubstr("are both trained"));
  EXPECT_THAT(refused("--set episodes.rollout_fragment_length=12"), HasSubstr("whole episodes"));
  EXPECT_THAT(refused("--set run.phase=dqn --set lights.encoder_layers=0 "
                      "--set episodes.rollout_fragment_length=12"),
              HasSubstr("expected only one of these agents"));
  const std::string dark = refused("--set env.scenario=merge");
  EXPECT_THAT(dark, AllOf(HasSubstr("light"), Not(HasSubstr("iteration 1"))));
  EXPECT_THAT(refused("--set run.phase=ppo_constrained"), HasSubstr("env.agents"));
}

}  // namespace
}  // namespace traffic::test
