/// Traffic lights as users train and evaluate them.
#include <array>

#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kFirstSelectionSeed = 900'000'000;  // baseline_runs.h

class SignalsTraining : public RunFolderTest {
 protected:
  /// On one small network, two minutes of traffic an episode; later arguments win.
  [[nodiscard]] std::string train(int ranks, const std::string& run,
                                  const std::string& arguments = "",
                                  const std::string& environment = "X=1") const {
    return command_of({.ranks = ranks,
                       .config = "signals.toml",
                       .run = run,
                       .arguments = "--set env.scenarios=[] --set env.scenario=lights_arterial "
                                    "--set env.max_time_s=120 --set evaluation.seeds= " +
                                    arguments,
                       .environment = environment});
  }
};

TEST_F(SignalsTraining, WhatItLearnsOnOneNetworkSetsTheLightsOfAnother) {
  const Outcome trained = run_program(train(2, "run"));
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  EXPECT_GT(summary("run")["result"]["decisions"], 20);
  const Outcome evaluated = run_program(
      evaluate("--scenario lights_grid --set env.max_time_s=60 --seeds 1..2 --controller none "
               "--controller checkpoint:" +
               best("run") + " --json " + (dir_ / "eval.json").string()));
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.output;
  std::ifstream in(dir_ / "eval.json");
  const auto found = nlohmann::json::parse(in);
  EXPECT_EQ(found["controllers"][0]["signal_changes"], 0);
  EXPECT_GT(found["controllers"][1]["signal_changes"], 0);
  // The length of its episodes goes along to the network that it was trained on, to no other.
  const auto settings_on = [&](const std::string& scenario) {
    return run_program(evaluate("--print-config --scenario " + scenario +
                                " --controller checkpoint:" + best("run")))
        .output;
  };
  EXPECT_THAT(settings_on("lights_arterial"), HasSubstr("max_time_s = 120"));
  EXPECT_THAT(settings_on("lights_grid"),
              AllOf(HasSubstr("lights_grid runs to its own end; in training an episode took 120 s"),
                    HasSubstr("max_time_s = 0")));
}

class SignalsTrainingWith : public SignalsTraining,
                            public ::testing::WithParamInterface<const char*> {};

TEST_P(SignalsTrainingWith, KilledAndResumedItEndsWithTheSameBits) {
  ASSERT_EQ(run_program(train(2, "whole", GetParam())).exit_code, 0);
  const Outcome killed =
      run_program(train(2, "cut", GetParam(), "TRAFFIC_FAULT=signals.collect:1:1:kill"));
  ASSERT_NE(killed.exit_code, 0) << killed.output;
  const Outcome resumed = run_program(train(2, "cut", GetParam()));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("going on from checkpoint"));
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
}

/// Within a training the policy sees what simulations send, in an evaluation the simulation itself.
/// Its best is one that has learned, and so does not decide as the script that policies begin as.
TEST_P(SignalsTrainingWith, AnEvaluationDecidesAsTheTrainingDid) {
  const std::string all = std::string(GetParam()) +
                          " --set lights.demand=[1.0,1.0] --set training.eval_episodes=1 "
                          "--set ppo.target_kl=0 --set ppo.learning_rate=0.1 ";
  ASSERT_EQ(run_program(train(1, "learned", all)).exit_code, 0);
  const Outcome trained = run_program(train(
      1, "run",
      all + "--set run.init_from=" + (dir_ / "learned/checkpoints/step-000000002.h5").string()));
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  const Outcome evaluated = run_program(
      evaluate("--seeds " + std::to_string(kFirstSelectionSeed) +
               " --controller none --controller greedy --controller checkpoint:" + best("run") +
               " --json " + (dir_ / "eval.json").string()));
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.output;
  const auto found = json("eval.json")["controllers"];
  EXPECT_DOUBLE_EQ(found[0]["delay_s"], summary("run")["result"]["own_program_delay_s"]);
  EXPECT_DOUBLE_EQ(found[2]["delay_s"], summary("run")["result"]["delay_s"]);
  EXPECT_NE(found[2]["delay_s"], found[1]["delay_s"]);
}

std::string name_of_policy(const ::testing::TestParamInfo<const char*>& policy) {
  const std::array names{"Alone", "LookingAround", "FromAReplay"};
  return names.at(policy.index);
}

INSTANTIATE_TEST_SUITE_P(Policies, SignalsTrainingWith,
                         ::testing::Values("--set lights.encoder_layers=0", "",
                                           "--set lights.learner=dqn "
                                           "--set lights.encoder_layers=0 "
                                           "--set offpolicy.learning_starts=8 "
                                           "--set offpolicy.update_interval=1 "
                                           "--set offpolicy.target_interval=3 "
                                           "--set offpolicy.learning_rate=0.05"),
                         name_of_policy);

TEST_F(SignalsTraining, WhatAReplayCannotHoldIsRefused) {
  const Outcome around = run_program(train(1, "run", "--set lights.learner=dqn"));
  EXPECT_EQ(around.exit_code, 2);
  EXPECT_THAT(around.output,
              AllOf(HasSubstr("lights.encoder_layers is 1"), HasSubstr("expected 0")));
  const Outcome late =
      run_program(train(1, "run",
                        "--set lights.learner=dqn --set lights.encoder_layers=0 "
                        "--set offpolicy.buffer_size=1000 --set offpolicy.learning_starts=2000"));
  EXPECT_EQ(late.exit_code, 2);
  EXPECT_THAT(late.output, HasSubstr("offpolicy.learning_starts is 2000"));
}

TEST_F(SignalsTraining, APolicyOfAnotherKindIsNoStart) {
  ASSERT_EQ(run_program(train(1, "first")).exit_code, 0);
  const Outcome other = run_program(
      train(1, "second", "--set lights.encoder_layers=0 --set run.init_from=" + best("first")));
  EXPECT_EQ(other.exit_code, 4) << other.output;
  EXPECT_THAT(other.output, AllOf(HasSubstr("lights.encoder_layers = 1"), HasSubstr("set them")));
  const Outcome other_learner =
      run_program(train(1, "fourth",
                        "--set lights.learner=dqn --set lights.encoder_layers=0 --set "
                        "offpolicy.learning_starts=8"));
  EXPECT_EQ(other_learner.exit_code, 0) << other_learner.output;
  const Outcome of_values = run_program(
      train(1, "fifth", "--set lights.encoder_layers=0 --set run.init_from=" + best("fourth")));
  EXPECT_EQ(of_values.exit_code, 4) << of_values.output;
  EXPECT_THAT(of_values.output, HasSubstr("lights.learner = \"dqn\", this run has \"ppo\""));
  const Outcome same = run_program(
      train(1, "third", "--set training.iterations=1 --set run.init_from=" + best("first")));
  EXPECT_EQ(same.exit_code, 0) << same.output;
}

TEST_F(SignalsTraining, ASimulationThatDiesCostsItsEpisodeAndNothingElse) {
  const Outcome outcome = run_program(
      train(1, "run", "--set training.iterations=1", "TRAFFIC_FAULT=sumo_env.step:0:50:kill"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("lost"));
  EXPECT_GE(summary("run")["faults"]["lost_episodes"], 1);
}

TEST_F(SignalsTraining, OtherActorsAreRefused) {
  const Outcome both =
      run_program(train(1, "run", "--set 'env.agents=[\"vehicles\", \"lights\"]'"));
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.output, AllOf(HasSubstr("expected env.agents"), HasSubstr("joint")));
  const Outcome wrong = run_program(train(1, "run", "--set 'env.agents=[\"vehicles\"]'"));
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.output, HasSubstr("expected env.agents"));
}

TEST_F(SignalsTraining, LightsAreTrainedBesideVehiclesThatAreControlled) {
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
  EXPECT_EQ(found[1]["delay_s"], found[2]["delay_s"]) << "it brings who acted beside it";
  const Outcome two = run_program(train(1, "two", "--set env.beside=greedy"));
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.output, HasSubstr("env.beside"));
}

TEST_F(SignalsTraining, ScriptsOfLightsAreComparedWithTheirPrograms) {
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
