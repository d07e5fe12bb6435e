#include "traffic/report/run_folder.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/fixtures.h"
#include "traffic/report/summary.h"

namespace traffic::report {
namespace {

class RunFolderTest : public FolderTest {};

TEST_F(RunFolderTest, EnvironmentHasGivenAndMeasuredFacts) {
  const RunFolder folder(dir_);
  Environment environment;
  environment.program = "traffic_train";
  environment.version = "1.2.3";
  environment.command_line = {"traffic_train", "configs/phase1.toml"};
  environment.world_size = 2;
  environment.libraries = {{"libtorch", "2.15.0"}, {"sumo", "1.28.0"}};
  write_environment(folder, environment);
  const auto json = nlohmann::json::parse(read_text(folder.environment()));
  EXPECT_EQ(json["program"], "traffic_train");
  EXPECT_EQ(json["libraries"]["sumo"], "1.28.0");
  EXPECT_EQ(json["command_line"].size(), 2);
  EXPECT_TRUE(json["gpus"].is_array());
  EXPECT_GE(json["cpus_available"], 1);
  EXPECT_GT(json["memory_bytes"], 0);
  EXPECT_FALSE(json["cpu_model"].get<std::string>().empty());
}

TEST_F(RunFolderTest, AnEmptySummaryHasAllFieldsThatScriptsRead) {
  write_summary(dir_ / "summary.json", {});
  const auto json = nlohmann::json::parse(read_text(dir_ / "summary.json"));
  for (const char* field :
       {"status", "phase", "steps", "seconds", "samples_per_s", "env_steps_per_s", "startup_s",
        "peak_rss_bytes", "time_share", "result", "parameters_xxh3", "faults"}) {
    EXPECT_TRUE(json.contains(field)) << field;
  }
  EXPECT_TRUE(json["samples_per_s"].is_null());
}

TEST_F(RunFolderTest, SummaryContainsItsMetrics) {
  Summary summary;
  summary.status = "failed";
  summary.message = "a library said: \xFF";  // not UTF-8
  summary.exit_code = 5;
  summary.phase = "all";
  summary.steps = 100;
  summary.rates["samples_per_s"] = 512.5;
  summary.peak_rss_bytes = {100, 250};
  summary.time_share = {{"data", 0.25}};
  summary.result["val/loss"] = 0.125;
  summary.parameters_xxh3 = "0123456789abcdef";
  summary.faults = {{"restarted_environments", 3}};
  write_summary(dir_ / "summary.json", summary);
  const auto json = nlohmann::json::parse(read_text(dir_ / "summary.json"));
  EXPECT_EQ(json["status"], "failed");
  EXPECT_EQ(json["phase"], "all");
  EXPECT_EQ(json["samples_per_s"], 512.5);
  EXPECT_EQ(json["peak_rss_bytes"]["per_rank"], nlohmann::json({100, 250}));
  EXPECT_EQ(json["peak_rss_bytes"]["total"], 350);
  EXPECT_EQ(json["time_share"]["data"], 0.25);
  EXPECT_EQ(json["result"]["val/loss"], 0.125);
  EXPECT_EQ(json["faults"]["restarted_environments"], 3);
}

}  // namespace
}  // namespace traffic::report
