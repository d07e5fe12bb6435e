/// The pages as people see them: written by the programs, opened in a browser without a screen.
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::HasSubstr;

/// Says on the console what a reader would see at once.
constexpr const char* kLook = R"(<script>addEventListener('load', () => setTimeout(() => {
  for (const group of document.querySelectorAll('details')) group.open = true;
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) console.error(`${page.scrollWidth} wide in ${innerWidth}`);
  const boxes = [...document.querySelectorAll('.card, figure, .view')].map((one) => one.getBoundingClientRect());
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const along = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && along > 1) console.error('overlap', JSON.stringify(a), JSON.stringify(b));
  }));
  for (const canvas of document.querySelectorAll('#pictures canvas, .view canvas')) {
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    if (!pixels.some((value) => value)) console.error('an empty picture');
  }
  document.title = `${document.querySelectorAll('canvas').length} pictures`;
}, 100));</script>)";

class PagesTest : public RunFolderTest {
 protected:
  /// What the browser says on its console, a line each; "N pictures" at the end. The screenshot
  /// stays in the build's folder.
  [[nodiscard]] std::string open(const fs::path& page, const std::string& name,
                                 const std::string& size, bool dark) const {
    const fs::path looked_at = page.parent_path() / ("looked-at-" + page.filename().string());
    std::ofstream(looked_at) << std::ifstream(page).rdbuf() << kLook;
    const fs::path pictures = fs::path(TRAFFIC_BIN_DIR).parent_path() / "screenshots";
    fs::create_directories(pictures);
    const std::string picture = (pictures / (name + ".png")).string();
    fs::remove(picture);
    const std::string options = std::string("--no-sandbox --disable-gpu --hide-scrollbars ") +
                                "--enable-logging=stderr --virtual-time-budget=2000 " +
                                "--user-data-dir=" + (dir_ / "browser").string() +
                                " --blink-settings=preferredColorScheme=" + (dark ? "0" : "1") +
                                " --window-size=" + size;
    const std::string url = " 'file://" + looked_at.string() + "'";
    const Outcome shot =
        run_program("chromium-headless-shell " + options + " --screenshot=" + picture + url);
    EXPECT_EQ(shot.exit_code, 0) << "is it installed? launch/setup.sh --tests\n" << shot.output;
    EXPECT_TRUE(fs::exists(picture));
    const Outcome dump = run_program("chromium-headless-shell " + options + " --dump-dom" + url);
    std::string said;
    std::istringstream lines(shot.output + dump.output);
    for (std::string line; std::getline(lines, line);) {
      if (line.find(":CONSOLE:") != std::string::npos) said += line + "\n";
    }
    const auto title = dump.output.find("<title>") + 7;
    return said + dump.output.substr(title, dump.output.find("</title>") - title);
  }
};

TEST_F(PagesTest, AReplayAndAReportOpenInABrowserWithoutAWordOnItsConsole) {
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
  // Speed along the routes under both, queues, outflow, gain, cost, time, and below five curves.
  for (const auto& [name, size, dark] : {std::tuple{"report-light", "1280,2600", false},
                                         std::tuple{"report-dark", "1280,2600", true},
                                         std::tuple{"report-dark-narrow", "400,5200", true}}) {
    EXPECT_THAT(open(dir_ / "report.html", name, size, dark), HasSubstr("7 pictures")) << name;
  }
}

TEST_F(PagesTest, WhatIsRecordedChangesNoEpisodeAndIsThere) {
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
  // Every line's links are letters of its light, which is known from the first second on and
  // changes within two minutes.
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
