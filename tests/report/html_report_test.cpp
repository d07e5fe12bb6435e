#include "traffic/report/html_report.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/curves.h"
#include "report/fixtures.h"
#include "report/web_page.h"
#include "traffic/core/error.h"
#include "traffic/core/lock_holder.h"
#include "traffic/core/text.h"

namespace traffic::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::int64_t count(const std::string& text, const std::string& what) {
  std::int64_t times = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++times;
  return times;
}

TEST(Curves, LongCurvesAreShortenedAndKeepTheirGaps) {
  Metrics metrics;
  for (int i = 0; i < 100'000; ++i) {
    metrics.rows.push_back({.step = i, .time_s = 0, .values = {{"x", std::sin(i)}}});
  }
  EXPECT_LT(all_curves(metrics).dump().size(), 10'000U);
  metrics.rows = {{.step = 1, .time_s = 0, .values = {{"x", 1.0}}},
                  {.step = 2, .time_s = 0, .values = {{"x", std::nan("")}}}};
  const auto line = all_curves(metrics)["x"][0]["lines"][0];
  EXPECT_EQ(line["x"], nlohmann::ordered_json({1, 2}));
  EXPECT_EQ(line["y"], nlohmann::ordered_json({1.0, nullptr}));
}

TEST(Curves, FramesAheadAndTheCostWithItsLimitShareAChart) {
  Metrics metrics;
  metrics.rows = {{.step = 1,
                   .time_s = 0,
                   .values = {{"v/a_frame1", 1.0},
                              {"v/a_frame2", 2.0},
                              {"Metrics/EpCost", 0.1},
                              {"Metrics/CostLimit", 0.2}}}};
  const auto groups = all_curves(metrics);
  EXPECT_EQ(groups["v"][0]["title"], "v/a");
  EXPECT_EQ(groups["v"][0]["lines"][1]["label"], "frame 2");
  EXPECT_EQ(groups["Metrics"].size(), 1U);
  EXPECT_EQ(groups["Metrics"][0]["lines"].size(), 2U);
}

TEST(WebPage, DataAndNamesCannotInsertHtml) {
  const std::string html =
      web_page({.title = "<b>", .body = "", .data = R"({"x":"</script><b>"})", .files = {}});
  EXPECT_THAT(html, AllOf(HasSubstr("<title>&lt;b&gt;</title>"), Not(HasSubstr("</script><b>"))));
  EXPECT_EQ(html_escaped("<script>&\""), "&lt;script&gt;&amp;&quot;");
  EXPECT_THROW(page_file("nowhere.js"), Error);
}

class HtmlReportTest : public FolderTest {
 protected:
  HtmlReportTest() { write_text(dir_ / "config.toml", "[run]\n"); }

  std::string report() {
    write_html_report(RunFolder(dir_));
    return read_text(dir_ / "report.html");
  }
};

/// The data that the scripts of the page draw.
nlohmann::json data_of(const std::string& html) {
  const std::string begin = "<script>const data = ";
  const auto at = html.find(begin) + begin.size();
  return nlohmann::json::parse(html.substr(at, html.find(";</script>", at) - at));
}

/// Writes the run folder of a training with a cost limit and its evaluation. The folder also
/// contains recorded traffic (replay/).
void write_trained(const std::filesystem::path& dir) {
  std::filesystem::create_directories(dir / "replay");
  write_text(dir / "metrics.jsonl",
             R"({"step":1,"time":1.0,"eval/gain":1.0,"eval/gain_half_width":0.5,)"
             R"("Metrics/EpCost":0.3,"Metrics/CostLimit":0.1,"Metrics/LagrangeMultiplier":0.5})"
             "\n"
             R"({"step":2,"time":2.0,"eval/gain":2.5,"eval/gain_half_width":null})"
             "\n"
             R"({"step":3,"time":2.0,"Metri)");
  write_text(dir / "summary.json",
             R"({"status":"done","training":"ppo_constrained","seconds":65,"world_size":2,)"
             R"("time_share":{"simulate":0.75,"learn":0.25}})");
  write_text(
      dir / "evaluation.json",
      R"({"scenario":"merge","seeds":[1,2],"controllers":[)"
      R"({"controller":"none","gain_%":null,"collisions":0,"hard_brakes":10,"unsafe_steps":2600},)"
      R"({"controller":"meter","gain_%":1.5,"+-95%":1,"collisions":0,"hard_brakes":10},)"
      R"({"controller":"checkpoint:a/phase3.h5","gain_%":4.25,"+-95%":1.25,"collisions":0,)"
      R"("hard_brakes":9,"unsafe_steps":2490}]})");
  write_text(dir / "replay/traffic.json", R"({"scenario":"merge","seed":1,"recordings":[]})");
}

TEST_F(HtmlReportTest, BeginsWithTheGainAndTheSafety) {
  write_text(dir_ / "summary.json", R"({"status":"done","phase":"all","seconds":125})");
  write_trained(dir_ / "phase3");
  const std::string html = report();
  EXPECT_THAT(html, AllOf(HasSubstr("<p>safe reinforcement learning; on "),
                          HasSubstr("card good\"><span>Better than no control</span>"
                                    "<strong>+4.25 ± 1.25 %</strong>"),
                          HasSubstr("on 2 seeds of merge; meter: +1.50 ± 1.00 %"),
                          HasSubstr("<strong>No worse than without</strong>"),
                          HasSubstr("9 hard brakes (10 without control)"),
                          HasSubstr("2490 unsafe vehicle-steps (2600 without control)"),
                          HasSubstr("<strong>" + human_duration(125))));
  EXPECT_EQ(count(html, "<html"), 1);
  EXPECT_THAT(html, Not(HasSubstr("http://")))
      << "the page must not load anything from the network";
}

/// The first sentence of the page.
std::string lead_of(const std::string& html) {
  const std::string begin = "<p class=\"lead\">";
  const auto at = html.find(begin) + begin.size();
  return html.substr(at, html.find("</p>", at) - at);
}

TEST_F(HtmlReportTest, TheFirstSentenceHasTheResultAndTheFileToUse) {
  EXPECT_EQ(lead_of(report()),
            "The training was killed or lost; the same command continues it. Nothing has been "
            "evaluated yet.");
  write_text(dir_ / "summary.json", R"({"status":"done","phase":"all","seconds":125})");
  write_trained(dir_ / "phase3");
  const std::string file = (dir_ / "phase3/checkpoints/phase3.h5").string();
  const auto evaluate = [&](const std::string& objective, const std::string& row) {
    write_text(dir_ / "phase3/evaluation.json",
               R"({"scenario":"merge","objective":")" + objective +
                   R"(","seeds":[1,2],"controllers":[{"controller":"none"},)"
                   R"({"controller":"checkpoint:)" +
                   file + "\"," + row + "}]}");
    return lead_of(report());
  };
  EXPECT_EQ(evaluate("ocr_all", R"("gain_%":4.25,"+-95%":1.25)"),
            "The learned controller gets 4.25 ± 1.25 % more traffic through than no control on 2 "
            "seeds of merge and is no less safe: use <code>phase3/checkpoints/phase3.h5</code>.");
  EXPECT_THAT(
      evaluate("0.5*delay_s+0.5*co2_g_per_km", R"("gain_%":4.25,"+-95%":1.25)"),
      HasSubstr("improves 0.5*delay_s+0.5*co2_g_per_km by 4.25 ± 1.25 % relative to no control"));
  EXPECT_THAT(evaluate("delay_s", R"("gain_%":4.25,"+-95%":1.25,"collisions":1)"),
              AllOf(HasSubstr("has 4.25 ± 1.25 % less delay than no control"),
                    HasSubstr("but is less safe: do not use <code>phase3/")));
  EXPECT_THAT(
      evaluate("ocr_all", R"("gain_%":-4.25,"+-95%":1.25)"),
      AllOf(HasSubstr("gets 4.25 ± 1.25 % less traffic through"), HasSubstr(": do not use")));
  EXPECT_THAT(evaluate("ocr_all", R"("gain_%":0.5,"+-95%":1.25)"),
              HasSubstr("makes no clear difference (+0.50 ± 1.25 %) on 2 seeds of merge"));
}

TEST_F(HtmlReportTest, AWorldModelIsNamedWithItsFile) {
  write_text(dir_ / "summary.json",
             R"({"status":"done","training":"world_model","result":{"position_rmse_m_frame5":1.2,)"
             R"("constant_velocity_position_rmse_m_frame5":2.0}})");
  for (const char* name : {"best", "phase1", "step-7"}) {
    write_text(dir_ / "checkpoints" / (std::string(name) + ".h5"), "x");
  }
  EXPECT_THAT(
      lead_of(report()),
      AllOf(HasSubstr(
                "5 frames ahead with an error of 1.20 m, better than constant velocity (2.00 m)"),
            HasSubstr("<code>checkpoints/phase1.h5</code>")));
}

TEST_F(HtmlReportTest, TheLastReportSaysHowTheRunEnded) {
  write_text(dir_ / "summary.json", R"({"status":"done","phase":"all","seconds":125})");
  write_text(dir_ / "run.lock", to_text(self_as_lock_holder()));
  write_trained(dir_ / "phase3");
  EXPECT_THAT(report(), HasSubstr("<span>running</span>"));
  write_html_report(RunFolder(dir_), /*has_ended=*/true);
  EXPECT_THAT(read_text(dir_ / "report.html"), HasSubstr("<span>Trained in</span>"));
}

TEST_F(HtmlReportTest, OneMoreCollisionThanWithoutControlIsLessSafe) {
  write_trained(dir_);
  write_text(dir_ / "evaluation.json",
             R"({"scenario":"merge","seeds":[1],"controllers":[{"controller":"none",)"
             R"("collisions":0},{"controller":"checkpoint:x.h5","gain_%":-4,"+-95%":1,)"
             R"("collisions":0.5}]})");
  EXPECT_THAT(report(), AllOf(HasSubstr("card bad\"><span>Worse than no control"),
                              HasSubstr("<strong>Less safe</strong>"),
                              HasSubstr("0.5 collisions (0 without control)")));
}

TEST_F(HtmlReportTest, ASmallExcessIsAWarningAndNotUnsafe) {
  write_trained(dir_);
  write_text(dir_ / "evaluation.json",
             R"({"scenario":"merge","seeds":[1,2],"controllers":[{"controller":"none",)"
             R"("emergency_stops":0},{"controller":"checkpoint:x.h5","gain_%":4,"+-95%":1,)"
             R"("emergency_stops":0.5,"safe":true}]})");
  EXPECT_THAT(
      report(),
      AllOf(HasSubstr("<strong>Look closer</strong>"),
            HasSubstr(
                "0.5 emergency stops (0 without control); over these seeds the increase is not")));
}

TEST_F(HtmlReportTest, OneCardComparesTheLastTrainingWithTheScript) {
  write_trained(dir_ / "phase2");
  write_trained(dir_ / "phase3");
  EXPECT_THAT(report(), Not(HasSubstr("<span>Compared with")))
      << "without an imitated script there must be no such card";
  const auto summarise = [&](const std::string& part, const std::string& kept,
                             const std::string& controller) {
    write_text(dir_ / part / "summary.json",
               R"({"status":"done","training":"ppo","result":{"kept":")" + kept +
                   R"(","controller":")" + controller +
                   R"(","script":"yield","script_gain":4.5,"gain_over_script":-2.25,)"
                   R"("gain_over_script_half_width":1.5}})");
  };
  summarise("phase2", "ppo", "checkpoint:/somewhere/best.h5");
  summarise("phase3", "script yield", "yield");
  const std::string html = report();
  EXPECT_EQ(count(html, "<span>Compared with"), 1);
  EXPECT_THAT(
      html,
      AllOf(HasSubstr("card warn\"><span>Compared with yield</span><strong>-2.25 ± 1.50 points"),
            HasSubstr("the gain of the script (+4.50 %)")));
  EXPECT_EQ(lead_of(html),
            "The training was killed or lost; the same command continues it. The script "
            "<code>yield</code> does better than the controller that was learned from it: use "
            "<code>--controller yield</code> in place of the checkpoint.");
}

TEST_F(HtmlReportTest, TheTitleOfAPictureStatesItsMessage) {
  write_text(dir_ / "summary.json", R"({"status":"done"})");
  write_trained(dir_ / "phase3");
  const auto pictures = data_of(report())["pictures"];
  ASSERT_EQ(pictures.size(), 4U);
  EXPECT_EQ(pictures[0]["kind"], "traffic");
  EXPECT_EQ(pictures[0]["folder"], "phase3/replay");
  EXPECT_EQ(pictures[1]["title"], "Best at iteration 2: +2.50 % over no control");
  EXPECT_EQ(pictures[1]["lines"][0]["low"], nlohmann::json({0.5, nullptr}));
  EXPECT_EQ(pictures[1]["lines"][1]["y"], nlohmann::json({1.5, 1.5}));
  EXPECT_EQ(pictures[2]["title"], "The cost ended at 0.3, above its limit of 0.1");
  EXPECT_EQ(pictures[3]["title"], "75 % of the time went to \"simulate\"");
}

TEST_F(HtmlReportTest, TheWorldModelIsComparedWithConstantVelocity) {
  write_text(dir_ / "metrics.jsonl", R"({"step":1,"validation/position_rmse_m_frame1":1,)"
                                     R"("validation/position_rmse_m_frame2":2,)"
                                     R"("validation/constant_velocity_position_rmse_m_frame1":1.5,)"
                                     R"("validation/constant_velocity_position_rmse_m_frame2":4})"
                                     "\n");
  const auto pictures = data_of(report())["pictures"];
  ASSERT_EQ(pictures.size(), 1U);
  EXPECT_EQ(pictures[0]["title"],
            "2 frames ahead the world model is off by 2.00 m, constant velocity by 4.00 m");
  EXPECT_EQ(pictures[0]["lines"][1]["y"], nlohmann::json({1.5, 4.0}));
}

TEST_F(HtmlReportTest, HasATableForEachScenario) {
  write_text(
      dir_ / "evaluation.json",
      R"({"scenarios":[{"scenario":"merge","seeds":[1],"controllers":[{"controller":"none"}]},)"
      R"({"scenario":"corridor","seeds":[1],"controllers":[{"controller":"none"}]}],"controllers":[]})");
  EXPECT_THAT(report(), AllOf(HasSubstr("episodes of 1 seed of merge"),
                              HasSubstr("episodes of 1 seed of corridor")));
}

TEST_F(HtmlReportTest, ADamagedFileIsReplacedByANote) {
  write_text(dir_ / "summary.json", "{\"status\":");
  write_text(dir_ / "evaluation.json", "[1,2]");
  write_text(dir_ / "metrics.jsonl",
             "[]\n{\"step\":\"x\"}\n\n{\"step\":1,\"loss\":\"text\"}\n{\"step\":2,\"loss\":1}\n");
  EXPECT_THAT(report(), AllOf(HasSubstr("summary.json:1: "), HasSubstr("evaluation.json:1: "),
                              HasSubstr("4 lines of the metrics cannot be read"),
                              HasSubstr("metrics.jsonl:1: "), HasSubstr("<summary>")));
}

TEST_F(HtmlReportTest, ATrainingOfAnyNameHasItsSection) {
  std::filesystem::create_directory(dir_ / "self_play");
  write_text(dir_ / "self_play/metrics.jsonl", "{\"step\":1,\"elo\":1200}\n");
  const std::string html = report();
  EXPECT_THAT(html, HasSubstr("<summary>self_play: elo (1)</summary>"));
  EXPECT_EQ(data_of(html)["curves"][0][0]["title"], "elo");
}

TEST_F(HtmlReportTest, AMissingFolderIsAnError) {
  EXPECT_THROW(write_html_report(RunFolder(dir_ / "gone")), DataError);
}

}  // namespace
}  // namespace traffic::report
