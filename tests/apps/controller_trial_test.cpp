/// Runs traffic_doctor --controller as users do: it tries a controller for a limited time and says
/// whether to use it. A busy machine may run too few episodes to decide. Then the tests repeat the
/// trial with the time that the program asks for.
#include <algorithm>

#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ControllerTrialTest : public RunFolderTest {
 protected:
  [[nodiscard]] static std::string doctor(const std::string& arguments) {
    return TRAFFIC_BIN_DIR "/traffic_doctor " + arguments;
  }
  /// Runs the doctor and reads its findings, of which the recommendation is the last one.
  static nlohmann::json findings_of(const std::string& arguments) {
    const Outcome outcome =
        run_program("sh -c \"" + doctor(arguments + " --json") + " 2>/dev/null\"");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    auto findings = nlohmann::json::parse(outcome.output, nullptr, false);
    EXPECT_TRUE(findings.is_array()) << outcome.output;
    return findings;
  }
  static nlohmann::json recommendation_of(const std::string& arguments) {
    return findings_of(arguments).back();
  }
  /// Repeats the trial with more time until whole episodes decide it. How much time that takes
  /// depends on the machine.
  static nlohmann::json decision_of(const std::string& arguments) {
    double minutes = 0.25;
    nlohmann::json found;
    for (int attempt = 0; attempt < 3; ++attempt) {
      found = recommendation_of(arguments + " --minutes " + std::to_string(minutes));
      EXPECT_EQ(found["subject"], "recommendation");
      if (found["decided"] && found["whole_episodes"]) return found;
      minutes = std::min(5.0, std::max(3.0 * minutes, found["needed_minutes"].get<double>()));
    }
    ADD_FAILURE() << "three trials, each with more time, made no decision: " << found["found"];
    return found;
  }
};

TEST_F(ControllerTrialTest, AScriptThatHelpsIsRecommended) {
  // With the demand of the scenario, traffic is saturated with some seeds only. The quotation marks
  // are escaped because findings_of() puts the command between such marks.
  const auto found = decision_of(
      R"(--scenario merge --set 'env.sumo_args=[\"--scale\",\"1.2\"]' --controller meter)");
  EXPECT_EQ(found["use"], "meter");
  EXPECT_EQ(found["verdict"], "ok");
  EXPECT_THAT(found["found"], HasSubstr("use meter: it raises the share of the demand"));
  const auto& evaluation = found["evaluation"];
  EXPECT_EQ(evaluation["objective"], "ocr_all");
  EXPECT_EQ(evaluation["seeds"].size(), found["seeds"]);
  EXPECT_EQ(evaluation["episodes"].size(), 2 * evaluation["seeds"].size());
  EXPECT_GT(evaluation["controllers"][1]["gain_%"], 2.0);
}

TEST_F(ControllerTrialTest, AHarmfulScriptIsAdvisedAgainst) {
  const auto found = decision_of("--scenario merge --controller random");
  EXPECT_EQ(found["use"], "none");
  EXPECT_EQ(found["verdict"], "ok")
      << "a recommendation against a controller is no warning or error";
  EXPECT_THAT(found["found"], HasSubstr("leave the traffic as it is: random "));
}

TEST_F(ControllerTrialTest, TheBetterOfTwoControllersOfLightsIsRecommended) {
  const auto found = decision_of(
      "--scenario lights_grid --set env.max_time_s=300 --controller actuated --controller greedy");
  EXPECT_EQ(found["use"], "greedy");
  EXPECT_EQ(found["evaluation"]["objective"], "delay_s")
      << "the trial must compare delays, because the traffic is not saturated";
  EXPECT_THAT(found["found"], AllOf(HasSubstr("use greedy: it reduces the delay by "),
                                    HasSubstr("; actuated also helps, its gain differs by -")));
}

TEST_F(ControllerTrialTest, TheTextShowsGainAndSafety) {
  const Outcome outcome =
      run_program(doctor("--scenario arterial --set env.max_time_s=300 --controller greedy+brisk "
                         "--minutes 0.5"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  for (const char* part :
       {"gain_%", "ok       conflicts", "trial          ", "gain           greedy+brisk: ",
        "safety         greedy+brisk: per run, against no control: emergency stops ",
        " collisions ", " runs jammed (0 without control)", "recommendation ", "0 failed"}) {
    EXPECT_THAT(outcome.output, HasSubstr(part));
  }
  EXPECT_THAT(outcome.output, Not(HasSubstr("LibTorch")));
}

TEST_F(ControllerTrialTest, AfterTooLittleTimeTheTimeNeededIsNamed) {
  const auto found = recommendation_of("--scenario lights_grid --controller retime --minutes 0.05");
  EXPECT_EQ(found["decided"], false);
  EXPECT_EQ(found["use"], "none");
  EXPECT_EQ(found["verdict"], "warning");
  EXPECT_GE(found["needed_minutes"], 1.0);
  EXPECT_THAT(found["found"], AllOf(HasSubstr("too early to say whether retime helps: "),
                                    HasSubstr("would be enough (--minutes ")));
}

TEST_F(ControllerTrialTest, LongEpisodesAreComparedByTheirFirstPart) {
  const auto findings = findings_of(
      "--scenario lights_grid --set env.max_time_s=86400 --controller greedy --minutes 0.4");
  const auto& found = findings.back();
  EXPECT_EQ(found["whole_episodes"], false);
  EXPECT_LT(found["horizon_s"], 86400.0);
  EXPECT_GE(found["seeds"], 1);
  const auto trial =
      std::ranges::find_if(findings, [](const auto& one) { return one["subject"] == "trial"; });
  ASSERT_NE(trial, findings.end());
  EXPECT_EQ((*trial)["verdict"], "warning");
  EXPECT_THAT((*trial)["found"],
              HasSubstr("whole episodes of 86400 s need more time, about --minutes "));
}

TEST_F(ControllerTrialTest, AnInterruptedTrialPrintsWhatIsKnown) {
  for (const char* signal : {"INT", "TERM"}) {
    const Outcome outcome = run_program(
        std::string("timeout --preserve-status -s ") + signal + " 15 " +
        doctor("--scenario merge --set env.max_time_s=120 --controller meter --minutes 20"));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_THAT(outcome.output,
                AllOf(HasSubstr("trial          stopped after "),
                      HasSubstr("under each controller, each with 120 s of traffic"),
                      HasSubstr("gain           meter: "), HasSubstr("recommendation "),
                      HasSubstr("0 failed")));
  }
}

TEST_F(ControllerTrialTest, ATrainedControllerOfVehiclesAndLightsIsTried) {
  const Outcome trained = run_program(command_of(
      {.ranks = 2,
       .config = "joint.toml",
       .run = "run",
       .arguments =
           "--set env.max_time_s=120 --set rollout.workers=2 --set rollout.envs_per_worker=1 "
           "--set training.iterations=1 --set episodes.train_batch_size=48 --set "
           "ppo.minibatch_size=48 --set training.eval_episodes=2 --set training.final_episodes=2 "
           "--set episodes.baseline_episodes=2 --set evaluation.seeds= --set "
           "episodes.baseline_cache=" +
           (dir_ / "cache").string()}));
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  const std::string checkpoint = "checkpoint:" + best("run");
  const auto own = recommendation_of("--scenario arterial --controller " + checkpoint +
                                     " --controller greedy --minutes 0.5");
  ASSERT_GE(own["seeds"], 1) << own["found"];
  EXPECT_EQ(own["whole_episodes"], true)
      << "episodes last only 120 s, as in training, so whole ones must fit";
  EXPECT_EQ(own["horizon_s"], 120.0);
  const auto& row = own["evaluation"]["controllers"][1];
  EXPECT_EQ(row["controller"], checkpoint);
  EXPECT_GT(row["signal_changes"], 0.0);
  EXPECT_GT(row["interventions"], 0.0);
  // On another network an episode lasts as long as the scenario of that network says.
  const auto other =
      findings_of("--scenario lights_grid --controller " + checkpoint + " --minutes 0.3");
  const auto time =
      std::ranges::find_if(other, [](const auto& one) { return one["subject"] == "time"; });
  ASSERT_NE(time, other.end());
  EXPECT_THAT((*time)["found"], Not(HasSubstr("120 s from")));
  EXPECT_EQ(other.back()["subject"], "recommendation");
}

TEST_F(ControllerTrialTest, OneRankOfAJobTriesTheController) {
  const Outcome outcome = run_program(
      TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np 2 " +
      doctor("--scenario merge --set env.max_time_s=60 --controller meter --minutes 0.1"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  const auto first = outcome.output.find("recommendation ");
  ASSERT_NE(first, std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find("recommendation ", first + 1), std::string::npos) << outcome.output;
}

TEST_F(ControllerTrialTest, AWrongNameIsAClearError) {
  const Outcome path = run_program(doctor("--scenario merge --controller checkpoint:no/such.h5"));
  EXPECT_EQ(path.exit_code, 4) << path.output;
  EXPECT_THAT(path.output, AllOf(HasSubstr("FAILED   controller"), HasSubstr("no/such.h5")));
  const Outcome script = run_program(doctor("--scenario merge --controller metre --json"));
  EXPECT_EQ(script.exit_code, 2) << script.output;
  const auto findings = nlohmann::json::parse(script.output, nullptr, false);
  ASSERT_TRUE(findings.is_array()) << script.output;
  EXPECT_EQ(findings[0]["verdict"], "FAILED");
  EXPECT_THAT(findings[0]["found"], HasSubstr("metre"));
  const Outcome nothing = run_program(doctor("--scenario merge --controller none"));
  EXPECT_EQ(nothing.exit_code, 2) << nothing.output;
  const Outcome scenario = run_program(doctor("--scenario merj --controller meter"));
  EXPECT_EQ(scenario.exit_code, 3) << scenario.output;
  EXPECT_THAT(scenario.output, AllOf(HasSubstr("FAILED   scenario"), HasSubstr("merj")));
  const Outcome alone = run_program(doctor("--controller meter"));
  EXPECT_EQ(alone.exit_code, 2) << alone.output;
  EXPECT_THAT(alone.output, HasSubstr("--scenario"));
}

TEST_F(ControllerTrialTest, AControllerThatCanCommandNothingIsRefused) {
  const Outcome outcome = run_program(doctor("--scenario merge --controller greedy"));
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("FAILED   env.scenario"), HasSubstr("no traffic light"),
                    Not(HasSubstr("recommendation"))));
}

}  // namespace
}  // namespace traffic::test
