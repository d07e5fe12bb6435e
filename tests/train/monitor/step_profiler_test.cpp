#include "train/monitor/step_profiler.h"

#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "support/run_folder_test.h"

namespace traffic::train {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kFirstStep = 40;  // first step of a resumed run

class StepProfilerTest : public test::RunFolderTest {
 protected:
  /// Makes steps. Each has its own name, a matrix product, and time that counts as learning.
  void take_steps(StepProfiler& profiler, int count) {
    for (int step = 0; step < count; ++step) {
      profiler.before_step(kFirstStep + step);
      const auto learning = split_.measure(TimeShare::kLearn);
      RECORD_USER_SCOPE("step-" + std::to_string(step));
      torch::ones({8, 8}).mm(torch::ones({8, 8}));
    }
  }
  [[nodiscard]] ProfilePlace place(int rank = 0) const {
    return {.folder = dir_ / "profile", .rank = rank};
  }
  /// Counts how often each name occurs in the trace.
  [[nodiscard]] std::map<std::string, int> names_in(const std::string& file) const {
    const nlohmann::json trace = json("profile/" + file);
    std::map<std::string, int> names;
    for (const auto& event : trace.at("traceEvents")) {
      if (event.value("ph", "") == "X") ++names[event.at("name")];
    }
    return names;
  }
  [[nodiscard]] std::string text(const std::string& file) const {
    std::ifstream in(dir_ / "profile" / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TimeSplit split_;
};

TEST_F(StepProfilerTest, RecordsTheChosenStepsOnly) {
  StepProfiler profiler({.steps = 2, .skip_steps = 1}, place(3), split_);
  take_steps(profiler, 5);
  auto names = names_in("rank-3.json");
  EXPECT_EQ(names.count("step-0"), 0U);
  EXPECT_EQ(names["step-1"], 1);
  EXPECT_EQ(names["step-2"], 1);
  EXPECT_EQ(names.count("step-3"), 0U);
  EXPECT_EQ(names["aten::mm"], 2);
  EXPECT_EQ(names["learn"], 2);
  EXPECT_THAT(text("rank-3.txt"), HasSubstr("aten::mm"));
}

TEST_F(StepProfilerTest, CountsAStepThatIsAnnouncedTwiceOnlyOnce) {
  StepProfiler profiler({.steps = 2, .skip_steps = 1}, place(), split_);
  profiler.before_step(kFirstStep);  // the step does not follow, because the epoch is over
  take_steps(profiler, 2);
  profiler.before_step(kFirstStep + 2);
  EXPECT_FALSE(std::filesystem::exists(place().folder));
  profiler.before_step(kFirstStep + 3);
  auto names = names_in("rank-0.json");
  EXPECT_EQ(names.count("step-0"), 0U);
  EXPECT_EQ(names["step-1"], 1);
}

TEST_F(StepProfilerTest, WritesTheRecordedStepsIfTheRunEndsEarly) {
  {
    StepProfiler profiler({.steps = 10, .skip_steps = 0}, place(), split_);
    take_steps(profiler, 2);
  }
  EXPECT_EQ(names_in("rank-0.json")["step-1"], 1);
}

TEST_F(StepProfilerTest, WritesNothingUnlessAskedTo) {
  StepProfiler profiler({.steps = 0, .skip_steps = 0}, place(), split_);
  take_steps(profiler, 3);
  EXPECT_FALSE(std::filesystem::exists(place().folder));
}

TEST_F(StepProfilerTest, TrainingContinuesIfNothingCanBeWritten) {
  std::ofstream(dir_ / "profile") << "a file where the folder would be";
  StepProfiler profiler({.steps = 1, .skip_steps = 0}, place(), split_);
  EXPECT_NO_THROW(take_steps(profiler, 3));
}

TEST_F(StepProfilerTest, ChangesNoTimeShare) {
  StepProfiler profiler({.steps = 1, .skip_steps = 0}, place(), split_);
  take_steps(profiler, 2);
  EXPECT_EQ(split_.current(), TimeShare::kOther);
  EXPECT_GT(split_.seconds(TimeShare::kLearn), 0.0);
}

}  // namespace
}  // namespace traffic::train
