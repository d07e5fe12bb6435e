#include "traffic/report/overview.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

#include "report/fixtures.h"

namespace traffic::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class OverviewTest : public FolderTest {
 protected:
  /// Writes a run of one training with this gain in the final comparison, and reads it.
  RunOverview run(const std::string& name, double gain, int seed) {
    const auto dir = dir_ / name;
    std::filesystem::create_directories(dir / "logs");
    write_text(dir / "config.toml",
               "[run]\nseed = " + std::to_string(seed) + "\n\n[ppo]\ngamma = 0.9\n");
    write_text(dir / "summary.json",
               R"({"status":"done","seconds":10,"faults":{"retries":2,"failed_saves":0}})");
    write_text(dir / "evaluation.json",
               R"({"scenario":"merge","seeds":[1],"controllers":[{"controller":"none"},)"
               R"({"controller":"checkpoint:x.h5","gain_%":)" +
                   std::to_string(gain) + "}]}");
    std::string metrics;
    for (int step = 1; step <= 6; ++step) {
      metrics += R"({"step":)" + std::to_string(step) + R"(,"time/step_s":)" +
                 (step == 4 ? "9" : "1") + R"(,"eval/gain":)" + std::to_string(step) + "}\n";
    }
    write_text(dir / "metrics.jsonl", metrics);
    write_text(dir / "logs/error.log",
               "2025-01-31T17:05:09.123Z [rank 1] warning: step 7 skipped\n"
               "2025-01-31T17:05:10.123Z [rank 1] warning: step 8 skipped\n");
    return overview_of(RunReader(dir));
  }
};

TEST_F(OverviewTest, AMetricHasStatisticsOverTheWholeTraining) {
  const MetricSpan span = run("a", 1, 1).parts.at(0).metrics.at("eval/gain");
  EXPECT_EQ(span.count, 6);
  EXPECT_EQ(span.minimum, 1);
  EXPECT_EQ(span.mean, 3.5);
  EXPECT_EQ(span.maximum, 6);
  EXPECT_EQ(span.last, 6);
}

TEST_F(OverviewTest, FailuresOfAllRanksAreListedOnce) {
  EXPECT_THAT(run("a", 1, 1).trouble,
              ElementsAre("retries: 2", "[rank 1] warning: step 7 skipped (2 times)",
                          AllOf(HasSubstr("time/step_s exceeded 3 s"), HasSubstr("1 times"),
                                HasSubstr("9 s at step 4"))));
}

TEST_F(OverviewTest, RunsOfSeveralSeedsHaveAMeanAnIntervalAndDifferences) {
  const std::vector<RunOverview> runs{run("a", 1, 7), run("b", 3, 8)};
  const auto json = overview_json(runs);
  ASSERT_EQ(json["means"].size(), 1U);
  EXPECT_EQ(json["means"][0]["metric"], "gain_%");
  EXPECT_EQ(json["means"][0]["mean"], 2.0);
  EXPECT_NEAR(json["means"][0]["+-95%"].get<double>(), 12.706, 0.001)
      << "the half-width must use Student's t for one degree of freedom, 12.706";
  ASSERT_EQ(json["settings"].size(), 1U);
  EXPECT_EQ(json["settings"][0]["setting"], "run.seed");
  EXPECT_THAT(overview_text(runs), AllOf(HasSubstr("run.seed"), Not(HasSubstr("ppo.gamma"))));
}

TEST_F(OverviewTest, ControllersForComparisonAreListedOnce) {
  const std::string text = overview_text(std::vector<RunOverview>{run("a", 1, 7), run("b", 3, 8)});
  const auto none = text.find("\nnone ");
  EXPECT_NE(none, std::string::npos) << text;
  EXPECT_EQ(text.find("\nnone ", none + 1), std::string::npos) << text;
}

TEST_F(OverviewTest, ATrainingWithoutControllersComparesItsOwnMetrics) {
  std::vector<RunOverview> runs;
  for (const auto& [name, error_m] : {std::pair{"a", 1.5}, std::pair{"b", 2.5}}) {
    const auto dir = dir_ / name;
    std::filesystem::create_directories(dir);
    write_text(dir / "config.toml", "[run]\nseed = 1\n");
    write_text(dir / "summary.json",
               R"({"status":"done","seconds":10,"result":{"best":"x","position_rmse_5s_m":)" +
                   std::to_string(error_m) + "}}");
    runs.push_back(overview_of(RunReader(dir)));
  }
  const auto means = overview_json(runs)["means"];
  ASSERT_EQ(means.size(), 1U);
  EXPECT_EQ(means[0]["metric"], "position_rmse_5s_m");
  EXPECT_EQ(means[0]["mean"], 2.0);
}

TEST_F(OverviewTest, LearningCurvesAreDrawnAsText) {
  const std::vector<RunOverview> runs{run("a", 1, 7)};
  const std::string text = gain_chart_text(runs);
  EXPECT_THAT(text, AllOf(HasSubstr("    6.00 |"), HasSubstr("    0.00 |---"), HasSubstr("*\n")));
  EXPECT_EQ(std::count(text.begin(), text.end(), '*'), 7)
      << "the text should have six points and one * in the legend";
}

}  // namespace
}  // namespace traffic::report
