/// Trains and evaluates traffic lights as users do: only the agent `lights` learns.
#include <array>

#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// First seed of the final comparison, as in rollouts/baseline_runs.h.
constexpr int kFirstComparisonSeed = 850'000'000;

class LightsTraining : public RunFolderTest {
 protected:
  /// The command of a training on one small network with episodes of two minutes. Later arguments
  /// override earlier ones.
  [[nodiscard]] std::string train(int ranks, const std::string& run,
                                  const std::string& arguments = "",
                                  const std::string& environment = "X=1") const {
    return command_of({.ranks = ranks,
                       .config = "signals.toml",
                       .run = run,
                       .arguments = "--set env.scenario=lights_arterial "
                                    "--set env.max_time_s=120 --set evaluation.seeds= "
                                    "--set rollout.envs_per_worker=1 --set training.iterations=2 "
                                    "--set training.final_episodes=2 "
                                    "--set episodes.train_batch_size=48 "
                                    "--set episodes.rollout_fragment_length=0 "
                                    "--set episodes.baseline_episodes=2 "
                                    "--set episodes.baseline_cache=" +
                                    (dir_ / "cache").string() + " " + arguments,
                       .environment = environment});
  }
};

TEST_F(LightsTraining, APolicyOfOneNetworkControlsTheLightsOfAnother) {
  const Outcome trained = run_program(train(2, "run"));
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  EXPECT_GT(summary("run")["result"]["light_decisions"], 20);
  const Outcome evaluated = run_program(
      evaluate("--scenario lights_grid --set env.max_time_s=60 --seeds 1..2 --controller none "
               "--controller checkpoint:" +
               best("run") + " --json " + (dir_ / "eval.json").string()));
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.output;
  std::ifstream in(dir_ / "eval.json");
  const auto found = nlohmann::json::parse(in);
  EXPECT_EQ(found["controllers"][0]["signal_changes"], 0);
  EXPECT_GT(found["controllers"][1]["signal_changes"], 0);
  // The length of episodes in training applies to evaluations on the same network only.
  const auto settings_on = [&](const std::string& scenario) {
    return run_program(evaluate("--print-config --scenario " + scenario +
                                " --controller checkpoint:" + best("run")))
        .output;
  };
  EXPECT_THAT(settings_on("lights_arterial"), HasSubstr("max_time_s = 120"));
  EXPECT_THAT(
      settings_on("lights_grid"),
      AllOf(HasSubstr(
                "lights_grid is simulated to its own end, but in training an episode lasted 120 s"),
            HasSubstr("max_time_s = 0")));
}

class LightsTrainingWith : public LightsTraining,
                           public ::testing::WithParamInterface<const char*> {};

TEST_P(LightsTrainingWith, KilledAndResumedItEndsWithTheSameBits) {
  ASSERT_EQ(run_program(train(2, "whole", GetParam())).exit_code, 0);
  const bool by_values = std::string(GetParam()).find("run.phase=dqn") != std::string::npos;
  const std::string training = by_values ? "dqn" : "phase2";
  const Outcome killed =
      run_program(train(2, "cut", GetParam(), "TRAFFIC_FAULT=" + training + ".collect:1:1:kill"));
  ASSERT_NE(killed.exit_code, 0) << killed.output;
  const Outcome resumed = run_program(train(2, "cut", GetParam()));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("going on from checkpoint"));
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
}

/// In a training the policy gets observations from simulations in other processes; in an evaluation
/// the simulation is in its own process. The best policy has learned, so it decides differently
/// from the script that policies begin as.
TEST_P(LightsTrainingWith, AnEvaluationDecidesAsTheTrainingDid) {
  const std::string all = std::string(GetParam()) +
                          " --set episodes.demand=[1.0,1.0] --set training.eval_episodes=1 --set "
                          "training.final_episodes=1 "
                          "--set ppo.target_kl=0 --set ppo.learning_rate=0.4 ";
  ASSERT_EQ(run_program(train(1, "learned", all)).exit_code, 0);
  const Outcome trained = run_program(train(
      1, "run",
      all + "--set run.init_from=" + (dir_ / "learned/checkpoints/step-000000002.h5").string()));
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  const Outcome evaluated = run_program(
      evaluate("--seeds " + std::to_string(kFirstComparisonSeed) +
               " --controller none --controller greedy --controller checkpoint:" + best("run") +
               " --json " + (dir_ / "eval.json").string()));
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.output;
  const auto found = json("eval.json")["controllers"];
  EXPECT_DOUBLE_EQ(found[2]["delay_s"], summary("run")["result"]["delay_s"]);
  const bool keeps_programs = std::string(GetParam()).find("lights.advisor") != std::string::npos;
  EXPECT_EQ(summary("run")["result"]["script"], keeps_programs ? "none" : "greedy");
  EXPECT_NE(found[2]["delay_s"], found[1]["delay_s"]);
}

std::string name_of_policy(const ::testing::TestParamInfo<const char*>& policy) {
  const std::array names{"KeepingPrograms", "LookingAround", "FromAReplay"};
  return names.at(policy.index);
}

INSTANTIATE_TEST_SUITE_P(
    Policies, LightsTrainingWith,
    ::testing::Values("--set lights.encoder_layers=0 --set lights.advisor=program", "",
                      "--set run.phase=dqn "
                      "--set lights.encoder_layers=0 "
                      "--set offpolicy.learning_starts=8 "
                      "--set offpolicy.update_interval=1 "
                      "--set offpolicy.target_interval=3 "
                      "--set offpolicy.learning_rate=0.05"),
    name_of_policy);

TEST_F(LightsTraining, SettingsThatAReplayOfLightsExcludesAreRefused) {
  const Outcome around = run_program(train(1, "run", "--set run.phase=dqn"));
  EXPECT_EQ(around.exit_code, 2);
  EXPECT_THAT(around.output,
              AllOf(HasSubstr("lights.encoder_layers is 1"), HasSubstr("expected 0")));
  const Outcome late =
      run_program(train(1, "run",
                        "--set run.phase=dqn --set lights.encoder_layers=0 "
                        "--set offpolicy.buffer_size=1000 --set offpolicy.learning_starts=2000"));
  EXPECT_EQ(late.exit_code, 2);
  EXPECT_THAT(late.output, HasSubstr("offpolicy.learning_starts is 2000"));
}

TEST_F(LightsTraining, ATrainingDoesNotStartFromAnotherKindOfPolicy) {
  ASSERT_EQ(run_program(train(1, "first")).exit_code, 0);
  const Outcome other = run_program(
      train(1, "second", "--set lights.encoder_layers=0 --set run.init_from=" + best("first")));
  EXPECT_EQ(other.exit_code, 4) << other.output;
  EXPECT_THAT(other.output, AllOf(HasSubstr("lights.encoder_layers = 1"),
                                  HasSubstr("set the checkpoint's values")));
  const Outcome other_learner =
      run_program(train(1, "fourth",
                        "--set run.phase=dqn --set lights.encoder_layers=0 --set "
                        "offpolicy.learning_starts=8"));
  EXPECT_EQ(other_learner.exit_code, 0) << other_learner.output;
  const Outcome of_values = run_program(
      train(1, "fifth", "--set lights.encoder_layers=0 --set run.init_from=" + best("fourth")));
  EXPECT_EQ(of_values.exit_code, 4) << of_values.output;
  EXPECT_THAT(of_values.output,
              HasSubstr("its lights were trained by dqn, this run trains them by ppo"));
  const Outcome same = run_program(
      train(1, "third", "--set training.iterations=1 --set run.init_from=" + best("first")));
  EXPECT_EQ(same.exit_code, 0) << same.output;
}

TEST_F(LightsTraining, ASimulationThatDiesCostsItsEpisodeAndNothingElse) {
  const Outcome outcome = run_program(
      train(1, "run", "--set training.iterations=1", "TRAFFIC_FAULT=sumo_env.step:0:50:kill"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("lost"));
  EXPECT_GE(summary("run")["faults"]["lost_episodes"], 1);
}

TEST_F(LightsTraining, SettingsThatLightsCannotLearnWithAreRefused) {
  const auto refused = [&](const std::string& arguments) {
    const Outcome outcome = run_program(train(1, "run", arguments));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
    return outcome.output;
  };
  EXPECT_THAT(refused("--set episodes.rollout_fragment_length=12"), HasSubstr("whole episodes"));
  EXPECT_THAT(refused("--set imitation.iterations=1"), HasSubstr("expected 0"));
  EXPECT_THAT(refused("--set run.phase=ppo_constrained"), HasSubstr("expected env.agents"));
  EXPECT_THAT(refused("--set run.phase=dqn --set lights.encoder_layers=0 "
                      "--set 'env.agents=[\"vehicles\", \"lights\"]'"),
              HasSubstr("expected only one of these agents"));
}

TEST_F(LightsTraining, AnUntrainedPolicyThatKeepsProgramsFollowsItsAdvisor) {
  const std::string nothing_learned =
      "--set training.iterations=1 --set ppo.num_epochs=1 --set ppo.learning_rate=1e-9 "
      "--set ppo.final_learning_rate=1e-9 --set lights.advisor=";
  for (const std::string advisor : {"program", "'retime(period_s=5)'"}) {
    ASSERT_EQ(
        run_program(train(1, "of_" + advisor.substr(1, 4), nothing_learned + advisor)).exit_code,
        0);
  }
  const Outcome evaluated = run_program(
      evaluate("--seeds 1..2 --controller none --controller checkpoint:" + best("of_rogr") +
               " --controller 'retime(period_s=5)' --controller checkpoint:" + best("of_reti") +
               " --json " + (dir_ / "eval.json").string()));
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.output;
  const auto found = json("eval.json")["controllers"];
  EXPECT_EQ(found[1]["delay_s"], found[0]["delay_s"]);
  EXPECT_EQ(found[1]["signal_changes"], 0);
  EXPECT_EQ(found[3]["delay_s"], found[2]["delay_s"]);
  EXPECT_NE(found[2]["delay_s"], found[0]["delay_s"]);
}

TEST_F(LightsTraining, LightsLearnFromEpisodesThatArePiecesOfAScenario) {
  const Outcome trained =
      run_program(train(2, "run",
                        "--set lights.advisor=program --set episodes.length_s=60 "
                        "--set episodes.demand=[1.0,1.0]"));
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  EXPECT_GT(summary("run")["result"]["light_decisions"], 20);
}

TEST_F(LightsTraining, ATrainingBeginsAsTheScriptThatASearchHasFound) {
  const Outcome trained =
      run_program(train(2, "run",
                        "--set training.iterations=1 --set search.episodes=40 "
                        "--set search.final_episodes=4 --set search.training_minutes=0"));
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  EXPECT_THAT(trained.output, HasSubstr("retime(period_s=1, weight=3)"));
  EXPECT_THAT(trained.output, HasSubstr("max_pressure"));
  EXPECT_THAT(trained.output, Not(HasSubstr("glide")));
}

TEST_F(LightsTraining, LightsAreTrainedBesideControlledVehicles) {
  const std::string beside =
      "--set env.scenario=arterial --set env.beside=glide --set training.iterations=1";
  const Outcome trained = run_program(train(1, "run", beside));
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  const Outcome evaluated = run_program(evaluate(
      "--seeds 1..2 --controller none --controller 'glide+checkpoint:" + best("run") +
      "' --controller checkpoint:" + best("run") + " --json " + (dir_ / "eval.json").string()));
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.output;
  std::ifstream in(dir_ / "eval.json");
  const auto found = nlohmann::json::parse(in)["controllers"];
  EXPECT_EQ(found[0]["interventions"], 0);
  EXPECT_GT(found[1]["interventions"], 0);
  EXPECT_GT(found[1]["signal_changes"], 0);
  EXPECT_EQ(found[1]["delay_s"], found[2]["delay_s"])
      << "the checkpoint must contain the vehicles' controller, which acted during the training";
  const Outcome two = run_program(train(1, "two", "--set env.beside=greedy"));
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.output, HasSubstr("env.beside"));
}

TEST_F(LightsTraining, ScriptsOfLightsAreComparedWithTheirPrograms) {
  const Outcome outcome = run_program(
      evaluate("--scenario lights_arterial --set env.max_time_s=240 --set env.objective=delay "
               "--seeds 1..3 --controller none --controller greedy "
               "--controller 'max_pressure(period_s=10)' --controller actuated --all"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("standing_time_s"), HasSubstr("jammed_runs"), HasSubstr("best: ")));
  const Outcome dark = run_program(evaluate("--scenario merge --controller greedy --seeds 1"));
  EXPECT_EQ(dark.exit_code, 2) << dark.output;
  EXPECT_THAT(dark.output, HasSubstr("the network has no traffic light"));
}

}  // namespace
}  // namespace traffic::test
