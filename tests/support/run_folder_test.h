/// Base of tests that start trainings and read their run folders. Each test has its own temporary
/// folder.
#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/run_program.h"

namespace traffic::test {

namespace fs = std::filesystem;

class RunFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name =
        std::string(info->test_suite_name()) + "_" + info->name() + "_" + std::to_string(getpid());
    std::ranges::replace(name, '/', '_');  // names of parameterised tests contain slashes
    dir_ = fs::temp_directory_path() / name;
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  /// A training with a shipped configuration: small, on the CPU, saved after every step.
  struct TrainingCommand {
    int ranks = 1;
    std::string config;               ///< file in configs/, such as "signals.toml"
    std::string run;                  ///< name of the run folder within dir_
    std::string arguments = {};       ///< further arguments, which override earlier ones
    std::string environment = "X=1";  ///< environment variables of the job
    std::string starter = {};         ///< words before the program's name in each rank's command
  };
  [[nodiscard]] std::string command_of(const TrainingCommand& training) const {
    return "env " + training.environment + " " TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np " +
           std::to_string(training.ranks) + " " + training.starter +
           " " TRAFFIC_BIN_DIR "/traffic_train " TRAFFIC_SOURCE_DIR "/configs/" + training.config +
           " --preset test --set run.device=cpu --set comm.timeout_s=60 "
           "--set checkpoint.save_interval_steps=1 --run-dir " +
           (dir_ / training.run).string() + " " + training.arguments;
  }
  [[nodiscard]] static std::string evaluate(const std::string& arguments) {
    return TRAFFIC_BIN_DIR "/traffic_eval --jobs 2 " + arguments;
  }

  /// Waits until the run has written metrics of this step. @return false after timeout_s
  [[nodiscard]] bool wait_for_step(const std::string& run, int step, int timeout_s = 30) const {
    const std::string wanted = "{\"step\":" + std::to_string(step) + ",";
    for (int i = 0; i < 10 * timeout_s; ++i) {
      std::ifstream in(dir_ / run / "metrics.jsonl");
      for (std::string line; std::getline(in, line);) {
        if (line.starts_with(wanted)) return true;
      }
      usleep(100'000);
    }
    return false;
  }
  [[nodiscard]] nlohmann::json json(const fs::path& file) const {
    std::ifstream in(dir_ / file);
    return nlohmann::json::parse(in, nullptr, false);
  }
  [[nodiscard]] std::string best(const std::string& run) const {
    return (dir_ / run / "checkpoints/best.h5").string();
  }
  [[nodiscard]] nlohmann::json summary(const fs::path& run) const {
    return json(run / "summary.json");
  }

  /// The metrics, one object per step, without those that depend on clocks, processes or the
  /// machine. They are bit-identical for two equal runs.
  [[nodiscard]] std::vector<nlohmann::json> figures_of_learning(const std::string& run) const {
    constexpr std::array<std::string_view, 6> kOthers{"time", "wall",    "wait/",
                                                      "gpu/", "memory/", "rollout/restarts"};
    std::vector<nlohmann::json> all;
    std::ifstream in(dir_ / run / "metrics.jsonl");
    for (std::string line; std::getline(in, line);) {
      const nlohmann::json figures = nlohmann::json::parse(line);
      nlohmann::json learned;
      for (const auto& [name, figure] : figures.items()) {
        const bool is_other = std::ranges::any_of(
            kOthers, [&name = name](std::string_view other) { return name.starts_with(other); });
        if (!is_other) learned[name] = figure;
      }
      all.push_back(std::move(learned));
    }
    return all;
  }
  /// Names of the files in checkpoints/parts. Each name contains a hash of the file's content.
  [[nodiscard]] std::set<std::string> checkpoint_parts(const std::string& run) const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_ / run / "checkpoints/parts")) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  fs::path dir_;  ///< temporary folder of the test
};

}  // namespace traffic::test
