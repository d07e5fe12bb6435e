/// Runs traffic_train with a search for the best script before the training, on short episodes of
/// shipped networks.
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

class SearchTest : public RunFolderTest {
 protected:
  /// The command of a training of two iterations after a short search, with the shipped
  /// configuration for any network. Later arguments override earlier ones.
  [[nodiscard]] std::string command(const std::string& run, const std::string& arguments,
                                    const std::string& configuration = "any.toml") const {
    return TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np 2 " TRAFFIC_BIN_DIR
                              "/traffic_train " TRAFFIC_SOURCE_DIR "/configs/" +
           configuration + " --run-dir " + (dir_ / run).string() +
           " --set search.episodes=56 --set search.final_episodes=6 --set "
           "search.training_minutes=0 "
           "--set rollout.workers=2 --set rollout.envs_per_worker=1 "
           "--set vehicles.hidden_dim=16 --set training.iterations=2 --set imitation.iterations=1 "
           "--set 'search.decides=[\"env.zone_m\",\"vehicles.commands\","
           "\"imitation.controllers\",\"imitation.iterations\"]' "
           "--set episodes.train_batch_size=200 --set ppo.minibatch_size=100 --set "
           "ppo.num_epochs=2 "
           "--set training.eval_episodes=2 --set episodes.baseline_episodes=2 --set "
           "evaluation.seeds= "
           "--set episodes.baseline_cache=" +
           (dir_ / "cache").string() + " --set comm.timeout_s=60 " + arguments;
  }
  [[nodiscard]] std::string text(const fs::path& path) const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Writes the scenario `merge` with ten hours of traffic, whose simulation takes about as long as
  /// the whole search may take. @return path of the .sumocfg
  [[nodiscard]] std::string long_merge() const {
    const std::string merge = TRAFFIC_SOURCE_DIR "/configs/scenarios/merge/merge.";
    const auto write = [&](const std::string& name, const std::string& content) {
      std::ofstream(dir_ / name) << content;
    };
    write("long.rou.xml",
          std::regex_replace(text(merge + "rou.xml"), std::regex("end=\"900\""), "end=\"36000\""));
    write("long.sumocfg", "<configuration><input><net-file value=\"" + merge +
                              "net.xml\"/><route-files value=\"long.rou.xml\"/></input><time>"
                              "<end value=\"36000\"/></time></configuration>");
    return (dir_ / "long.sumocfg").string();
  }
  [[nodiscard]] nlohmann::json search_of(const std::string& run) const {
    return nlohmann::json::parse(text(dir_ / run / "search.json"))["searches"][0]["scenarios"][0];
  }
};

TEST_F(SearchTest, FindsAScriptTrainsFromItAndKeepsItWhenResumed) {
  const std::string merge = "--set env.scenario=merge --set env.max_time_s=600 ";
  const Outcome outcome = run_program(command("run", merge));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const auto found = search_of("run");
  EXPECT_THAT(found["best"].get<std::string>(), StartsWith("meter")) << outcome.output;
  EXPECT_GE(found["tried"].size(), 4U);
  EXPECT_EQ(found["finalists"].size(), 2U);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("seeds of the final comparison"),
                                    HasSubstr("env.objective = \"ocr\"")));
  // The training uses the result of the search, and reports it at its end.
  const std::string resolved = text(dir_ / "run" / "resolved.toml");
  EXPECT_THAT(resolved,
              AllOf(HasSubstr("objective = \"ocr\""), HasSubstr("\"none\", \"stop\", \"fast\""),
                    HasSubstr("controllers = [\"" + found["best"].get<std::string>())));
  EXPECT_EQ(summary("run")["result"]["search"][0]["best"], found["best"]);
  EXPECT_THAT(text(dir_ / "run" / "report.html"), HasSubstr("scripts that the search tried"));

  const Outcome resumed = run_program(command("run", merge));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output,
              AllOf(HasSubstr("using the result kept in"), HasSubstr("was already complete"),
                    Not(HasSubstr("round 1 of"))));
  EXPECT_EQ(text(dir_ / "run" / "resolved.toml"), resolved);
}

TEST_F(SearchTest, ComparesPiecesOfEpisodesWhereWholeOnesTakeTooLong) {
  const std::string flags = "--set env.scenario=" + long_merge() +
                            " --set search.episodes=0 --set search.minutes=0.5 "
                            "--set 'search.decides=[\"vehicles.commands\"]' "
                            "--set rollout.envs_per_worker=1 ";
  BackgroundProgram program(command("run", flags));
  const auto searched = [&] { return fs::exists(dir_ / "run" / "search.json"); };
  for (int i = 0; i < 3000 && !searched(); ++i) usleep(100'000);
  ASSERT_TRUE(searched()) << text(dir_ / "run" / "logs" / "train.log");
  program.send(SIGTERM);  // the training that follows would run whole episodes
  EXPECT_GE(program.wait(), 0);
  const auto found = search_of("run");
  const std::string log = text(dir_ / "run" / "logs" / "train.log");
  EXPECT_EQ(found["episode_s"], 36000.0);
  EXPECT_GT(found["piece_s"], 0.0);
  EXPECT_LT(found["piece_s"], 18000.0);
  EXPECT_GE(found["pieces"], 1);
  // The speed of the machine decides how many seeds fit into the time of the search, and so whether
  // the search finds a script that is clearly better than no control.
  EXPECT_GE(found["tried"].size(), 2U) << log;
  EXPECT_THAT(log, AllOf(HasSubstr("too long for search.minutes = 0.5"),
                         HasSubstr("of 36000 s of episodes")));
  for (const auto& kept : fs::directory_iterator(dir_ / "cache")) {
    EXPECT_THAT(kept.path().filename().string(), Not(StartsWith("traffic-")))
        << "the traffic that the search saved for its pieces must be removed";
  }
  // A resumed run uses the same result.
  BackgroundProgram resumed(command("run", flags));
  const auto uses = [&] {
    return text(dir_ / "run" / "logs" / "train.log").find("using the result kept in") !=
           std::string::npos;
  };
  for (int i = 0; i < 600 && !uses(); ++i) usleep(100'000);
  EXPECT_TRUE(uses());
  resumed.send(SIGTERM);
  EXPECT_GE(resumed.wait(), 0);
  EXPECT_EQ(search_of("run"), found);
}

TEST_F(SearchTest, QLearningBeginsAsTheFoundScriptAndIsComparedWithIt) {
  const Outcome outcome = run_program(
      command("run",
              "--set env.scenario=merge --set env.max_time_s=600 --set imitation.iterations=0 "
              "--set 'search.decides=[\"env.zone_m\",\"vehicles.commands\","
              "\"vehicles.advisor\",\"vehicles.advice_probability\"]' "
              "--set episodes.rollout_fragment_length=25",
              "any_dqn.toml"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const auto best = search_of("run")["best"].get<std::string>();
  EXPECT_THAT(best, StartsWith("meter")) << outcome.output;
  EXPECT_THAT(text(dir_ / "run" / "resolved.toml"), HasSubstr("advisor = \"" + best + "\""));
  const auto result = summary("run")["result"];
  EXPECT_EQ(result["script"], best);
  EXPECT_TRUE(result.contains("gain_over_script"));
  EXPECT_THAT(result["kept"],
              ::testing::AnyOf(HasSubstr("script"), HasSubstr("dqn"), HasSubstr("advice")));
}

TEST_F(SearchTest, SaysWhenNoScriptHelpsAndTrainsWithoutOne) {
  // Three of a thousand vehicles are connected: most runs have none near a conflict.
  const Outcome outcome = run_program(
      command("run", "--set env.scenario=merge --set env.max_time_s=120 --set env.cv_share=0.003"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(search_of("run")["best"], "none");
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("no script has a gain"),
                                    HasSubstr("this is not shown to be above 0: docs/")));
  EXPECT_THAT(text(dir_ / "run" / "resolved.toml"), HasSubstr("[imitation]\niterations = 0"));
  EXPECT_EQ(summary("run")["status"], "done");
}

TEST_F(SearchTest, AtTrafficLightsAllScriptsRunAndNoEpisodeIsLost) {
  const Outcome outcome = run_program(command(
      "run", "--set env.scenario=corridor --set env.max_time_s=120 --set training.iterations=1"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, Not(HasSubstr("episode was lost")));
  const auto found = search_of("run");
  std::set<std::string> kinds;
  for (const auto& script : found["tried"]) {
    const auto text = script["controller"].get<std::string>();
    kinds.insert(text.substr(0, text.find('(')));
  }
  EXPECT_THAT(kinds, IsSupersetOf({"yield", "brisk", "glide"}));
}

TEST_F(SearchTest, AStopDuringTheSearchEndsItWithoutPartialResults) {
  BackgroundProgram program(
      command("run", "--set env.scenario=merge --set search.episodes=100000"));
  const auto begun = [&] {
    return text(dir_ / "run" / "logs" / "train.log").find("episodes, which take about") !=
           std::string::npos;
  };
  for (int i = 0; i < 600 && !begun(); ++i) usleep(100'000);
  ASSERT_TRUE(begun());
  program.send(SIGUSR1);  // to mpirun, which forwards it to the ranks
  EXPECT_EQ(program.wait(), 75);
  EXPECT_EQ(summary("run")["status"], "stopped");
  EXPECT_FALSE(fs::exists(dir_ / "run" / "search.json"));
}

TEST_F(SearchTest, ADryRunLeavesTheSearchOut) {
  const Outcome outcome = run_program(command("run", "--set env.max_time_s=60 --dry-run"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("the search is left out"));
  EXPECT_FALSE(fs::exists(dir_ / "run" / "search.json"));
}

}  // namespace
}  // namespace traffic::test
