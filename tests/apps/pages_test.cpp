/// Opens the HTML pages that the programs write in a headless browser.
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "support/browser.h"
#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::HasSubstr;

class PagesTest : public RunFolderTest {
 protected:
  [[nodiscard]] std::string open(const fs::path& page, const std::string& name,
                                 const std::string& size, bool dark) const {
    return look_at(page, {.name = name, .size = size, .dark = dark}, dir_);
  }
};

TEST_F(PagesTest, AReplayAndAReportOpenWithoutMessagesOnTheConsole) {
  const Outcome outcome =
      run_program(TRAFFIC_BIN_DIR
                  "/traffic_eval --scenario merge --set env.max_time_s=90 --controller none "
                  "--controller meter --seeds 3..4 --replay " +
                  (dir_ / "replay").string() + " --json " + (dir_ / "evaluation.json").string());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("open " + (dir_ / "replay/replay.html").string()));
  EXPECT_EQ(open(dir_ / "replay/replay.html", "replay-light", "1280,700", false), "2 pictures");
  EXPECT_EQ(open(dir_ / "replay/replay.html", "replay-dark-narrow", "400,800", true), "2 pictures");

  std::ofstream(dir_ / "summary.json")
      << R"({"status":"done","training":"ppo","seconds":65,"world_size":2,"time_share":{"simulate":0.75,"learn":0.25}})";
  std::ofstream(dir_ / "metrics.jsonl")
      << R"({"step":1,"eval/gain":1.0,"eval/gain_half_width":0.5,"Metrics/EpCost":0.3,"Metrics/CostLimit":0.1,"Metrics/LagrangeMultiplier":0.5})"
      << "\n"
      << R"({"step":2,"eval/gain":2.5,"eval/gain_half_width":0.4,"Metrics/EpCost":0.2,"Metrics/CostLimit":0.1,"Metrics/LagrangeMultiplier":0.6})"
      << "\n";
  ASSERT_EQ(run_program(TRAFFIC_BIN_DIR "/traffic_report --html " + dir_.string()).exit_code, 0);
  // The page shows speed along the routes for both controllers, queues, outflow, gain, cost and
  // time, and five curves below.
  for (const auto& [name, size, dark] : {std::tuple{"report-light", "1280,2600", false},
                                         std::tuple{"report-dark", "1280,2600", true},
                                         std::tuple{"report-dark-narrow", "400,5200", true}}) {
    EXPECT_THAT(open(dir_ / "report.html", name, size, dark), HasSubstr("7 pictures")) << name;
  }
}

TEST_F(PagesTest, AReplayOfDriversOpensWithoutMessagesOnTheConsole) {
  const Outcome outcome = run_program(
      TRAFFIC_BIN_DIR
      "/traffic_eval --scenario lights_town --driver idm --egos 3 --warm-up 30 --drive-for 10 "
      "--seeds 3 --replay " +
      (dir_ / "replay").string());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("open " + (dir_ / "replay/replay.html").string()));
  EXPECT_THAT(outcome.output, HasSubstr("collisions/km"));
  EXPECT_EQ(open(dir_ / "replay/replay.html", "drivers", "1280,700", false), "2 pictures");
}

TEST_F(PagesTest, RecordingWritesItsFilesAndChangesNoEpisode) {
  const std::string command = TRAFFIC_BIN_DIR
      "/traffic_eval --scenario merge --set env.max_time_s=90 --controller none "
      "--controller random --seeds 5..6 --json ";
  ASSERT_EQ(run_program(command + (dir_ / "without.json").string()).exit_code, 0);
  const Outcome outcome = run_program(command + (dir_ / "with.json").string() + " --replay " +
                                      (dir_ / "replay").string());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(json("with.json"), json("without.json"));
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(dir_ / "replay")) {
    files.insert(entry.path().filename());
    EXPECT_GT(entry.file_size(), 0U) << entry.path();
  }
  EXPECT_EQ(files,
            (std::set<std::string>{"0-none.fcd.xml.gz", "1-random.fcd.xml.gz", "replay.html",
                                   "sumo-gui.sumocfg", "sumo-gui.view.xml", "traffic.json"}));
  const auto traffic = json("replay/traffic.json");
  EXPECT_EQ(traffic["seed"], 5);
  ASSERT_EQ(traffic["recordings"].size(), 2U);
  const auto& none = traffic["recordings"][0];
  const auto evaluated = json("with.json");
  const auto& episode = evaluated["episodes"][0];
  EXPECT_EQ(none["controller"], "none");
  EXPECT_EQ(none["time_s"].size(), none["arrived"].size());
  EXPECT_LE(none["arrived"].back(), episode["arrived"]);
  EXPECT_EQ(none["routes"][0]["speed"].get<std::string>().size(),
            (none["routes"][0]["columns"].get<std::size_t>() *
                 none["routes"][0]["rows"].get<std::size_t>() +
             2) /
                3 * 4);
  std::ifstream in(dir_ / "replay/sumo-gui.sumocfg");
  const std::string gui{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_THAT(gui, HasSubstr("<seed value=\"5\""));
  EXPECT_THAT(gui, HasSubstr("configs/scenarios/merge/merge.net.xml"));
}

TEST_F(PagesTest, AReplayShowsTheLightsOfItsNetwork) {
  const Outcome outcome =
      run_program(TRAFFIC_BIN_DIR
                  "/traffic_eval --scenario corridor --set env.max_time_s=120 --controller none "
                  "--seeds 1..2 --replay " +
                  (dir_ / "replay").string());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  std::ifstream in(dir_ / "replay/replay.html");
  const std::string page{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto begin = page.find("{\"format_version\"");
  ASSERT_NE(begin, std::string::npos);
  std::istringstream text(page.substr(begin));
  nlohmann::json replay;
  text >> replay;  // up to the end of the object
  const auto& lines = replay["network"]["stop_lines"];
  ASSERT_GT(lines.size(), 0U);
  const auto& changes = replay["recordings"][0]["lights"];
  ASSERT_GT(changes.size(), lines.size() / 4);
  // Each link of a stop line is the index of a letter in the state of its light. The replay has
  // that state from the first second on, and the state changes within two minutes.
  for (const auto& line : lines) {
    EXPECT_EQ(line["line"].size(), 4U);
    int seen = 0;
    for (const auto& change : changes) {
      if (change[1] != line["light"]) continue;
      if (seen++ == 0) {
        EXPECT_LE(change[0], 1.0);
      }
      for (const auto& link : line["links"]) {
        EXPECT_LT(link.get<std::size_t>(), change[2].get<std::string>().size());
      }
    }
    EXPECT_GE(seen, 2);
  }
  EXPECT_EQ(open(dir_ / "replay/replay.html", "replay-lights", "1280,700", false), "1 pictures");
}

}  // namespace
}  // namespace traffic::test
