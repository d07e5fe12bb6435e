#include "traffic/report/metrics.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/fixtures.h"
#include "traffic/report/csv_writer.h"

namespace traffic::report {
namespace {

using ::testing::ElementsAre;

class MetricsTest : public FolderTest {
 protected:
  std::filesystem::path path_ = dir_ / "metrics.jsonl";
};

TEST_F(MetricsTest, WritesOneJsonObjectPerLineInTheGivenOrder) {
  MetricsWriter writer(path_);
  writer.write(1, 10.5, {{"b", 0.5}, {"a", NAN}});
  writer.write(2, 11.5, {{"b", INFINITY}});
  EXPECT_THAT(lines_of(path_), ElementsAre(R"({"step":1,"time":10.5,"b":0.5,"a":null})",
                                           R"({"step":2,"time":11.5,"b":null})"));
}

TEST_F(MetricsTest, ResumingDropsLaterStepsAndTheHalfLineOfAKilledRun) {
  {
    MetricsWriter writer(path_);
    for (const int step : {10, 20, 30}) writer.write(step, 0, {{"loss", step}});
  }
  write_text(path_, read_text(path_) + R"({"step":15,"time":0,"lo)");
  MetricsWriter writer(path_, 20);
  writer.write(21, 0, {{"loss", 1.5}});
  std::vector<int> steps;
  for (const std::string& line : lines_of(path_)) {
    steps.push_back(nlohmann::json::parse(line)["step"]);
  }
  EXPECT_THAT(steps, ElementsAre(10, 20, 21));
}

TEST_F(MetricsTest, AnEvaluationRepeatedAfterAKillIsWrittenOnce) {
  {
    MetricsWriter writer(path_);
    writer.write(10, 1, {{"loss", 0.1}});
    writer.write(10, 2, {{"eval/score", 0.3}, {"eval/none", NAN}});
  }
  for (int attempt = 0; attempt < 2; ++attempt) {
    MetricsWriter writer(path_, 10);
    writer.write(10, 3, {{"eval/score", 0.3}, {"eval/none", NAN}});
  }
  EXPECT_EQ(lines_of(path_).size(), 2);
  MetricsWriter writer(path_, 10);
  writer.write(10, 4, {{"eval/score", 0.4}});
  writer.write(10, 4,
               {{"eval/score", 0.4}});  // a second evaluation of the same step in one run stays
  EXPECT_EQ(lines_of(path_).size(), 4);
}

TEST_F(MetricsTest, WithoutResumingNothingIsDropped) {
  { MetricsWriter(path_).write(10, 0, {}); }
  { MetricsWriter(path_).write(5, 0, {}); }
  EXPECT_EQ(lines_of(path_).size(), 2);
}

TEST_F(MetricsTest, ScalarsReachBothFilesOnce) {
  auto events = std::make_unique<EventWriter>(dir_ / "tensorboard");
  Scalars scalars(MetricsWriter{path_}, std::move(events));
  scalars.set("train/loss", 1.0);
  scalars.set("train/lr", 0.5);
  scalars.set("train/loss", 2.0);
  scalars.write(7);
  scalars.write(8);  // there are no new values
  const auto lines = lines_of(path_);
  ASSERT_EQ(lines.size(), 1);
  const auto json = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(json["step"], 7);
  EXPECT_EQ(json["train/loss"], 2.0);
  EXPECT_EQ(json["train/lr"], 0.5);
  const auto file = *std::filesystem::directory_iterator(dir_ / "tensorboard");
  EXPECT_THAT(read_text(file.path()), ::testing::HasSubstr("train/loss"));
  EXPECT_EQ(scalars.num_lost(), 0);
}

class CsvWriterTest : public FolderTest {
 protected:
  std::filesystem::path path_ = dir_ / "episodes.csv";
};

TEST_F(CsvWriterTest, WritesHeaderAndQuotedRows) {
  CsvWriter writer(path_, {"scenario", "seed", "ocr_all"});
  writer.write(1, {std::string("merge, \"quick\"\nrun"), std::int64_t{42}, 0.861});
  EXPECT_THAT(lines_of(path_),
              ElementsAre("step,scenario,seed,ocr_all", R"(1,"merge, ""quick"" run",42,0.861)"));
}

TEST_F(CsvWriterTest, ResumingDropsLaterSteps) {
  {
    CsvWriter writer(path_, {"x"});
    for (const int step : {1, 2, 3}) writer.write(step, {0.5});
  }
  CsvWriter writer(path_, {"x"}, 2);
  writer.write(3, {0.75});
  EXPECT_THAT(lines_of(path_), ElementsAre("step,x", "1,0.5", "2,0.5", "3,0.75"));
}

}  // namespace
}  // namespace traffic::report
