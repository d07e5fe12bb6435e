#include "traffic/os/process_id.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traffic/os/child_process.h"

namespace traffic::os {
namespace {

TEST(ProcessId, StartTicksNameAProcessAndAreZeroWithoutOne) {
  EXPECT_GT(process_start_ticks(getpid()), 0U);
  EXPECT_EQ(process_start_ticks(getpid()), process_start_ticks(getpid()));
  EXPECT_EQ(process_start_ticks(-5), 0U);
}

TEST(ProcessId, AZombieDoesNotRun) {
  auto child = ChildProcess::fork([] { return 0; });
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT), 0);
  const auto ticks = process_start_ticks(child.pid());
  EXPECT_GT(ticks, 0U);
  EXPECT_FALSE(is_running(child.pid(), ticks));
  const pid_t pid = child.pid();
  child.wait();
  EXPECT_FALSE(is_running(pid, 0));
}

TEST(ProcessId, ALaterProcessOfTheSameNumberIsAnother) {
  EXPECT_TRUE(is_running(getpid(), process_start_ticks(getpid())));
  EXPECT_FALSE(is_running(getpid(), process_start_ticks(getpid()) + 1));
}

TEST(ProcessId, AnEntryThatNobodyHasMadeIsUnknown) {
  SharedProcess entry{};
  EXPECT_TRUE(is_running_or_unknown(entry));
  enter_self(entry);
  EXPECT_TRUE(is_running_or_unknown(entry));
  entry.start_ticks = 1;
  EXPECT_FALSE(is_running_or_unknown(entry));
}

}  // namespace
}  // namespace traffic::os
