#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/run_folder_test.h"
#include "traffic/core/error.h"

namespace traffic::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TrafficEval : public RunFolderTest {
 protected:
  /// The command of an evaluation with episodes of a minute and a half.
  [[nodiscard]] static std::string command(const std::string& arguments) {
    return TRAFFIC_BIN_DIR "/traffic_eval --scenario merge --set env.max_time_s=90 " + arguments;
  }
};

TEST_F(TrafficEval, PrintsATableAndWritesJsonAndCsv) {
  const Outcome outcome =
      run_program(command("--controller none --controller meter --controller random --seeds 3..5 "
                          "--jobs 2 --csv " +
                          (dir_ / "e.csv").string() + " --json " + (dir_ / "e.json").string()));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("gain_%"));
  EXPECT_THAT(outcome.output, HasSubstr("difference_of_gains"));
  const nlohmann::json all = json("e.json");
  ASSERT_EQ(all["episodes"].size(), 9);
  EXPECT_EQ(all["episodes"][0]["controller"], "none");
  EXPECT_EQ(all["episodes"][2]["seed"], 5);
  EXPECT_EQ(all["controllers"][0]["cv_steps"], 0.0);
  EXPECT_GT(all["controllers"][2]["cv_steps"], 0.0);
  EXPECT_LE(all["controllers"][2]["max_controlled"], 5.0);
  std::ifstream csv(dir_ / "e.csv");
  std::string line;
  int lines = 0;
  while (std::getline(csv, line)) ++lines;
  EXPECT_EQ(lines, 10);
}

TEST_F(TrafficEval, ComparesInEachOfSeveralScenarios) {
  const Outcome outcome = run_program(
      command("--scenario corridor --controller none --controller yield --seeds 3..4 --csv " +
              (dir_ / "e.csv").string() + " --json " + (dir_ / "e.json").string()));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_LT(outcome.output.find("merge"), outcome.output.find("corridor"));
  const nlohmann::json all = json("e.json");
  ASSERT_EQ(all["scenarios"].size(), 2);
  EXPECT_EQ(all["scenarios"][0]["scenario"], "merge");
  EXPECT_EQ(all["scenarios"][1]["episodes"].size(), 4);
  ASSERT_EQ(all["controllers"].size(), 4);
  EXPECT_EQ(all["controllers"][3]["scenario"], "corridor");
  EXPECT_EQ(all["controllers"][3]["controller"], "yield");
  std::ifstream csv(dir_ / "e.csv");
  std::string line;
  std::vector<std::string> lines;
  while (std::getline(csv, line)) lines.push_back(line);
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_TRUE(lines[0].starts_with("scenario,controller,seed,"));
  EXPECT_TRUE(lines[8].starts_with("corridor,yield,4,"));
}

TEST_F(TrafficEval, GivesTheSameNumbersWhateverTheNumberOfProcesses) {
  for (const char* jobs : {"1", "3"}) {
    ASSERT_EQ(run_program(command("--controller none --controller random --seeds 7..9 --jobs " +
                                  std::string(jobs) + " --json " +
                                  (dir_ / (std::string(jobs) + ".json")).string()))
                  .exit_code,
              0);
  }
  EXPECT_EQ(json("1.json"), json("3.json"));
}

TEST_F(TrafficEval, TheTableFitsATerminalWithoutTheOptionAll) {
  const std::string arguments = "--controller none --controller random --seeds 3..4";
  const Outcome brief = run_program(command(arguments));
  ASSERT_EQ(brief.exit_code, 0) << brief.output;
  std::istringstream lines(brief.output.substr(brief.output.find("controller ")));
  std::string header;
  std::getline(lines, header);
  for (const char* column : {"gain_%", "+-95%", "worst_%", "ocr_all", "delay_s", "veh/h", "m/s",
                             "emerg.", "coll.", "brakes", "picked"}) {
    EXPECT_THAT(header, HasSubstr(column));
  }
  constexpr std::size_t kWidth = 120;
  const std::size_t longer = 30 - std::string("random    ").size();
  EXPECT_LE(header.size() + longer, kWidth)
      << "the table must also fit if a controller's name has 30 characters";
  EXPECT_THAT(brief.output, Not(HasSubstr("CO2")));
  const Outcome measured = run_program(command(arguments + " --emissions"));
  lines.str(measured.output.substr(measured.output.find("controller ")));
  std::getline(lines, header);
  EXPECT_THAT(header, HasSubstr("CO2/km"));
  EXPECT_LE(header.size() + longer, kWidth) << "the table must also fit with emissions";
  const Outcome all = run_program(command(arguments + " --all"));
  EXPECT_THAT(all.output, HasSubstr("shield_overrides"));
}

TEST_F(TrafficEval, ComparesByCo2PerKilometre) {
  const Outcome outcome = run_program(
      command("--controller none --controller random --seeds 3..4 --set env.objective=co2 --json " +
              (dir_ / "e.json").string()));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("CO2/km"));
  const auto evaluation = json("e.json");
  EXPECT_EQ(evaluation["objective"], "co2_g_per_km");
  const auto& none = evaluation["controllers"][0];
  const auto& random = evaluation["controllers"][1];
  EXPECT_GT(none["co2_g_per_km"], 100.0);  // of a petrol car
  EXPECT_GT(none["fuel_g_per_km"], 30.0);
  EXPECT_EQ(none["electricity_wh_per_km"], 0.0);
  EXPECT_NE(random["gain_%"], 0.0);
  EXPECT_EQ(random["gain_%"], random["co2_g_per_km_gain_%"]);
}

TEST_F(TrafficEval, RefusesAnObjectiveWithoutItsEmissions) {
  const Outcome outcome =
      run_program(command("--controller none --seeds 3 --set env.objective=delay+electricity"));
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("use no electric energy without control"));
  const Outcome unknown =
      run_program(command("--controller none --seeds 3 --set env.objective=delay+nox"));
  EXPECT_EQ(unknown.exit_code, 2) << unknown.output;
  EXPECT_THAT(unknown.output, HasSubstr("expected ocr, delay, co2, electricity, auto"));
}

TEST_F(TrafficEval, OneSeedHasNoInterval) {
  const Outcome outcome = run_program(command(
      "--controller none --controller random --seeds 3 --json " + (dir_ / "e.json").string()));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, Not(HasSubstr("inf")));
  EXPECT_TRUE(json("e.json")["controllers"][1]["+-95%"].is_null());
}

TEST_F(TrafficEval, NamesNetworkBestControllerAndControllersWithoutCommands) {
  const Outcome outcome =
      run_program(command("--controller none --controller random --controller yield --seeds 3..8 "
                          "--json " +
                          (dir_ / "e.json").string()));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("traffic_eval: merge: 1 conflict, 2 approaches"));
  EXPECT_THAT(outcome.output, HasSubstr("warning: merge: yield can do nothing"));
  EXPECT_THAT(outcome.output, HasSubstr("\nbest: "));
  EXPECT_THAT(outcome.output, HasSubstr("yield commanded no vehicle in any run"));
  const auto rows = json("e.json")["controllers"];
  int best = 0;
  for (const auto& row : rows) {
    EXPECT_TRUE(row["safe"].is_boolean());
    EXPECT_GT(row["delay_s"], 0.0);
    best += row["best"].get<bool>() ? 1 : 0;
  }
  EXPECT_EQ(best, 1);
}

/// Base of tests on a scenario that the project does not ship: a street with some crossings.
class StrangersNetwork : public TrafficEval {
 protected:
  void SetUp() override {
    TrafficEval::SetUp();
    ASSERT_EQ(run_program(TRAFFIC_NETGENERATE " --rand --rand.iterations 20 --seed 77 --tls.guess "
                                              "-o " +
                          (dir_ / "net.net.xml").string())
                  .exit_code,
              0);
    std::ifstream in(dir_ / "net.net.xml");
    const std::string net{std::istreambuf_iterator<char>(in), {}};
    const std::regex edge("<edge id=\"(-?[A-Za-z0-9#]+)\" from=");
    for (std::sregex_iterator it(net.begin(), net.end(), edge), end; it != end; ++it) {
      edges_.push_back((*it)[1]);
    }
    ASSERT_GE(edges_.size(), 10U);
  }
  /// Writes a scenario without an end. A trip departs every 5 s for two minutes, and the trips have
  /// the given vehicle types in turn.
  [[nodiscard]] std::string scenario(const std::vector<std::string>& types) const {
    std::ofstream routes(dir_ / "s.rou.xml");
    routes << "<routes>";
    for (const auto& type : std::set<std::string>(types.begin(), types.end())) {
      routes << "<vType id='" << type << "'/>";
    }
    for (std::size_t i = 0; i < 24; ++i) {
      routes << "<trip id='t" << i << "' type='" << types[i % types.size()] << "' depart='" << 5 * i
             << "' from='" << edges_[i % edges_.size()] << "' to='"
             << edges_[(7 * i + 5) % edges_.size()] << "'/>";
    }
    routes << "</routes>";
    std::ofstream(dir_ / "s.sumocfg")
        << "<configuration><input><net-file value='net.net.xml'/><route-files value='s.rou.xml'/>"
           "</input></configuration>";
    return (dir_ / "s.sumocfg").string();
  }
  [[nodiscard]] static Outcome evaluate(const std::string& scenario) {
    return run_program(TRAFFIC_BIN_DIR
                       "/traffic_eval --controller none --controller random --seeds 1..2 "
                       "--set 'env.sumo_args=[\"--ignore-route-errors\"]' --scenario " +
                       scenario);
  }
  std::vector<std::string> edges_;
};

TEST_F(StrangersNetwork, WithoutConnectedVehiclesIsAnErrorThatNamesTheKey) {
  const Outcome outcome = evaluate(scenario({"car", "car", "van"}));
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_THAT(
      outcome.output,
      HasSubstr("no vehicle is of type 'cv'; types are car 67 %, van 33 %: set env.cv_types "
                "to the types that are connected"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("gain_%")));
}

TEST_F(StrangersNetwork, ObviousSettingsAreMadeAndReported) {
  const Outcome outcome = evaluate(scenario({"HV", "CV"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  for (const char* part :
       {"the program sets env.cv_types = [\"CV\"]",
        "departs at 115 s: the program sets env.max_time_s = 600", "are teleported",
        "the same with every seed", "50 % of them connected (CV)"}) {
    EXPECT_THAT(outcome.output, HasSubstr(part));
  }
}

TEST_F(TrafficEval, PrintsOnlyJsonOnStandardOutputWhenAskedTo) {
  const Outcome outcome =
      run_program("sh -c '" + command("--controller none --seeds 1 --json 2>/dev/null'"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_FALSE(nlohmann::json::parse(outcome.output, nullptr, false).is_discarded());
}

TEST_F(TrafficEval, AnEpisodeWhoseProcessDiesOrHangsIsRunAgain) {
  const std::string arguments = command("--controller none --seeds 7..8 --jobs 2 --json ");
  ASSERT_EQ(run_program(arguments + (dir_ / "whole.json").string()).exit_code, 0);
  const Outcome outcome = run_program(
      "env TRAFFIC_FAULT=evaluation.step:0:0:kill,evaluation.step:1:0:hang " + arguments +
          (dir_ / "faults.json").string() + " --set rollout.env_timeout_s=3",
      60);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("seed 7: its process was killed by signal 9"));
  EXPECT_THAT(outcome.output, HasSubstr("seed 8: its process gave no sign of life for 3 s"));
  EXPECT_EQ(json("whole.json"), json("faults.json"));
}

TEST_F(TrafficEval, AnEpisodeDoesNotDependOnOtherSimulations) {
  const std::string arguments = TRAFFIC_BIN_DIR
      "/traffic_eval --scenario lights_town --controller none --controller greedy "
      "--demand-scale 1.3 --set env.max_time_s=600 ";
  const auto csv_of = [&](const std::string& more) {
    const Outcome outcome = run_program(arguments + more + " --csv " + (dir_ / "e.csv").string());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    std::ifstream file(dir_ / "e.csv");
    std::vector<std::string> of_seed_3;
    for (std::string line; std::getline(file, line);) {
      if (line.find(",3,") != std::string::npos) of_seed_3.push_back(line);
    }
    return of_seed_3;
  };
  const auto alone = csv_of("--seeds 3 --jobs 1");
  EXPECT_EQ(alone.size(), 2U);
  EXPECT_EQ(csv_of("--seeds 1..3 --jobs 1"), alone);
  EXPECT_EQ(csv_of("--seeds 2..4 --jobs 2"), alone);
}

TEST_F(TrafficEval, AnEpisodeThatKillsItsProcessTwiceIsNamed) {
  const Outcome outcome = run_program("env TRAFFIC_FAULT=evaluation.step:0:*:segv " +
                                      command("--controller none --seeds 7..8 --jobs 1"));
  EXPECT_EQ(outcome.exit_code, 6) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("controller none, seed 7: its process was killed by"));
}

TEST_F(TrafficEval, ReportsErrorsBeforeASimulationStarts) {
  const auto fails = [&](const std::string& arguments, int code, const std::string& text) {
    const Outcome outcome = run_program(command(arguments));
    EXPECT_EQ(outcome.exit_code, code) << arguments << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(text)) << arguments;
  };
  fails("--controller nobody", 2, "known are none, random, meter");
  fails("--controller none,greedy --set 'env.cv_types=[\"x\"]'", 2,
        "known are none, random, meter");
  fails("--controller none --seeds 5..3", 2, "--seeds");
  fails("--controller none --seeds x", 2, "--seeds");
  fails("--controller none --replay /proc/replay", 8, "/proc/replay");
  fails("--controller none --controller none", 2, "found the same controller twice");
  fails("--controller checkpoint:/nowhere.h5", 4, "/nowhere.h5");
}

TEST_F(TrafficEval, IsLinkedSoThatItsTablesOfAddressesAreReadOnly) {
  const Outcome outcome =
      run_program("readelf --wide --dynamic --segments " TRAFFIC_BIN_DIR "/traffic_eval");
  EXPECT_THAT(outcome.output, HasSubstr("BIND_NOW"));
  EXPECT_THAT(outcome.output, HasSubstr("GNU_RELRO"));
}

TEST_F(TrafficEval, NamesAMissingScenario) {
  const Outcome outcome =
      run_program(TRAFFIC_BIN_DIR "/traffic_eval --scenario nowhere --controller none --seeds 1");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("merge"));
}

}  // namespace
}  // namespace traffic::test
