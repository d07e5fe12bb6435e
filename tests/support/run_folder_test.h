/// Tests of programs that write run folders, each test in a folder of its own.
#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "support/run_program.h"

namespace traffic::test {

namespace fs = std::filesystem;

class RunFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    dir_ = fs::temp_directory_path() / (std::string(info->test_suite_name()) + "_" + info->name() +
                                        "_" + std::to_string(getpid()));
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  /// Whether the run writes figures of this step in time.
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
  [[nodiscard]] nlohmann::json summary(const fs::path& run) const {
    return json(run / "summary.json");
  }

  fs::path dir_;
};

}  // namespace traffic::test
