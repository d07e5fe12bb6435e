#include "train/evaluate/child_evaluation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace traffic::train {
namespace {

TEST(ChildEvaluation, AConfigurationRemovedDuringTheRunIsWrittenAgain) {
  const auto dir = std::filesystem::temp_directory_path() /
                   ("child_evaluation_test_" + std::to_string(getpid()));
  config::Config config;
  config.env.control_period_s = 1;
  EXPECT_NO_THROW(check_simulation(dir / "config.toml", config));
  EXPECT_TRUE(std::filesystem::exists(dir / "config.toml"));
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace traffic::train
