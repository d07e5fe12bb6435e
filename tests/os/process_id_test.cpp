#include "traffic/os/process_id.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>

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

TEST(ProcessId, AProcessThatEndsWhileItIsReadIsNoError) {
  std::atomic<pid_t> pid{getpid()};
  std::atomic<bool> done{false};
  std::thread parent([&] {
    for (int i = 0; i < 3000; ++i) {
      const pid_t child = ::fork();
      if (child == 0) ::_exit(0);
      if (child < 0) continue;
      pid = child;
      ::waitpid(child, nullptr, 0);
    }
    done = true;
  });
  std::int64_t seen = 0;
  while (!done) EXPECT_NO_THROW(seen += process_stat(pid).has_value() ? 1 : 0);
  parent.join();
  EXPECT_GT(seen, 0);
}

TEST(ProcessId, ALaterProcessOfTheSameNumberIsAnother) {
  EXPECT_TRUE(is_running(getpid(), process_start_ticks(getpid())));
  EXPECT_FALSE(is_running(getpid(), process_start_ticks(getpid()) + 1));
}

TEST(ProcessId, AnEmptyEntryMeansUnknown) {
  SharedProcess entry{};
  EXPECT_TRUE(is_running_or_unknown(entry));
  enter_self(entry);
  EXPECT_TRUE(is_running_or_unknown(entry));
  entry.start_ticks = 1;
  EXPECT_FALSE(is_running_or_unknown(entry));
}

}  // namespace
}  // namespace traffic::os
