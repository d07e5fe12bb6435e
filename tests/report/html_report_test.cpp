#include "traffic/report/html_report.h"

#include <gmock/gmock.h>

#include <cmath>

#include "report/fixtures.h"
#include "report/html_chart.h"
#include "traffic/core/error.h"

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

TEST(HtmlChart, SpansItsPictureFromTheLeastToTheGreatestValue) {
  const std::string svg =
      html_chart("loss", {{.label = "loss", .points = {{0, 5}, {4, 7}, {8, 9}}}});
  // The picture is 380 x 190 with margins of 54, 8, 8 and 20 at left, right, top and bottom.
  EXPECT_THAT(svg, HasSubstr(R"(points="54.0,170.0 213.0,89.0 372.0,8.0 ")"));
  EXPECT_THAT(svg, AllOf(HasSubstr("<figcaption>loss</figcaption>"), HasSubstr(">6</text>"),
                         HasSubstr(">8</text>")));
}

TEST(HtmlChart, LeavesAGapWhereAValueIsMissing) {
  const double gap = std::nan("");
  const std::string svg = html_chart(
      "x",
      {{.label = "x", .points = {{0, 0}, {1, 1}, {2, gap}, {3, 2}, {4, gap}, {5, 1}, {6, 0}}}});
  EXPECT_EQ(count(svg, "<polyline"), 2);
  EXPECT_EQ(count(svg, "<circle"), 1);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(HtmlChart, OfOneValueOrNoneIsAChartToo) {
  EXPECT_THAT(html_chart("one", {{.label = "one", .points = {{3, 0}}}}), HasSubstr("<circle"));
  EXPECT_THAT(html_chart("none", {{.label = "none", .points = {}}}), HasSubstr("no values"));
}

TEST(HtmlChart, OfManyPointsStaysSmall) {
  ChartLine line{.label = "x", .points = {}};
  for (int i = 0; i < 100'000; ++i) line.points.push_back({.x = 1.0 * i, .y = std::sin(i)});
  EXPECT_LT(html_chart("x", {line}).size(), 10'000U);
}

TEST(HtmlChart, NamesAreTextAndNothingElse) {
  EXPECT_THAT(html_chart("<script>&\"", {}), HasSubstr("&lt;script&gt;&amp;&quot;"));
}

class HtmlReportTest : public FolderTest {
 protected:
  HtmlReportTest() { write_text(dir_ / "config.toml", "[run]\n"); }

  std::string report() {
    write_html_report(RunFolder(dir_));
    return read_text(dir_ / "report.html");
  }
};

TEST_F(HtmlReportTest, ShowsResultComparisonAndCurvesOfEachPhase) {
  write_text(dir_ / "summary.json",
             R"({"status":"done","phase":"all","result":{"phase3":{"gain":4.25}}})");
  std::filesystem::create_directories(dir_ / "phase3");
  write_text(
      dir_ / "phase3/metrics.jsonl",
      "{\"step\":1,\"time\":1.0,\"Metrics/LagrangeMultiplier\":0.0,\"a_frame1\":1,\"a_frame2\":2}\n"
      "{\"step\":2,\"time\":2.0,\"Metrics/"
      "LagrangeMultiplier\":0.5,\"a_frame1\":null,\"a_frame2\":2}\n"
      "{\"step\":3,\"time\":2.0,\"Metri");
  write_text(
      dir_ / "phase3/evaluation.json",
      R"({"scenario":"merge","seeds":[1,2],"controllers":[{"controller":"none","gain_%":null},)"
      R"({"controller":"meter","gain_%":5.475641}]})");
  const std::string html = report();
  EXPECT_THAT(html, AllOf(HasSubstr("<h2>phase3</h2>"), Not(HasSubstr("<h2>phase2</h2>")),
                          HasSubstr("<td>gain</td><td>4.25</td>"),
                          HasSubstr("<td>gain_%</td><td></td><td>5.4756</td>"),
                          HasSubstr("<figcaption>Metrics/LagrangeMultiplier</figcaption>")));
  EXPECT_EQ(count(html, "<figure>"), 2) << "one for the multiplier, one for both frames";
  EXPECT_EQ(count(html, "<html"), count(html, "</html>"));
}

TEST_F(HtmlReportTest, OfSeveralScenariosHasATableEach) {
  write_text(
      dir_ / "evaluation.json",
      R"({"scenarios":[{"scenario":"merge","seeds":[1],"controllers":[{"controller":"none"}]},)"
      R"({"scenario":"corridor","seeds":[1],"controllers":[{"controller":"none"}]}],"controllers":[]})");
  EXPECT_THAT(report(),
              AllOf(HasSubstr("Scenario merge, 1 seeds"), HasSubstr("Scenario corridor, 1 seeds")));
}

TEST_F(HtmlReportTest, InPlaceOfWhatIsDamagedStandsWhatIsWrong) {
  write_text(dir_ / "summary.json", "{\"status\":");
  write_text(dir_ / "evaluation.json", "[1,2]");
  write_text(dir_ / "metrics.jsonl",
             "[]\n{\"step\":\"x\"}\n\n{\"step\":1,\"loss\":\"text\"}\n{\"step\":2,\"loss\":1}\n");
  EXPECT_THAT(report(), AllOf(HasSubstr("summary.json:1: "), HasSubstr("evaluation.json:1: "),
                              HasSubstr("4 lines cannot be read"), HasSubstr("metrics.jsonl:1: "),
                              HasSubstr("<figcaption>loss</figcaption>")));
}

TEST_F(HtmlReportTest, ATrainingOfAnyNameHasItsSection) {
  std::filesystem::create_directory(dir_ / "self_play");
  write_text(dir_ / "self_play/metrics.jsonl", "{\"step\":1,\"elo\":1200}\n");
  EXPECT_THAT(report(),
              AllOf(HasSubstr("<h2>self_play</h2>"), HasSubstr("<figcaption>elo</figcaption>")));
}

TEST_F(HtmlReportTest, AFolderThatIsGoneIsAnError) {
  EXPECT_THROW(write_html_report(RunFolder(dir_ / "gone")), DataError);
}

}  // namespace
}  // namespace traffic::report
