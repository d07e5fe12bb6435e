#include "traffic/report/run_state.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>

#include "report/fixtures.h"
#include "traffic/core/lock_holder.h"

namespace traffic::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using RunStateTest = FolderTest;

TEST_F(RunStateTest, ShowsProgressCheckpointAndProcesses) {
  std::filesystem::create_directories(dir_ / "logs");
  std::filesystem::create_directories(dir_ / "phase2/checkpoints");
  write_text(dir_ / "config.toml", "[run]\n");
  write_text(dir_ / "phase2/config.toml", "[run]\n");
  write_text(dir_ / "phase2/checkpoints/step-7.h5", "x");
  write_text(dir_ / "run.lock", to_text(self_as_lock_holder()));
  write_text(dir_ / "logs/train.log",
             "2025-01-31T17:05:09.123Z info: phase 2: 33 % (4/12), 394.4 env steps/s, 1 min left\n"
             "2025-01-31T17:05:19.123Z info: iteration 6: saved\n");
  const RunState state = state_of(RunReader(dir_));
  EXPECT_EQ(state.status, "running");
  EXPECT_EQ(state.progress, "info: phase 2: 33 % (4/12), 394.4 env steps/s, 1 min left");
  EXPECT_EQ(state.last_log_line, "info: iteration 6: saved");
  EXPECT_EQ(state.checkpoint.filename(), "step-7.h5");
  const auto self = std::ranges::find(state.processes, getpid(), &ProcessFacts::pid);
  ASSERT_NE(self, state.processes.end());
  EXPECT_EQ(self->name, "test_report");
  EXPECT_EQ(self->state, 'R');
  EXPECT_GT(self->rss_bytes, 1'000'000);
  EXPECT_THAT(state_text(state, false), AllOf(HasSubstr("test_report"), HasSubstr("together")));
  EXPECT_THAT(state_text(state, true), HasSubstr(std::to_string(getpid())));
}

TEST_F(RunStateTest, ARunThatHasEndedHasNoProcesses) {
  write_text(dir_ / "summary.json", R"({"status":"done"})");
  const RunState state = state_of(RunReader(dir_));
  EXPECT_EQ(state.status, "done");
  EXPECT_TRUE(state.processes.empty());
  EXPECT_TRUE(state.checkpoint.empty());
  EXPECT_TRUE(state_json(state)["checkpoint"].is_null());
}

}  // namespace
}  // namespace traffic::report
