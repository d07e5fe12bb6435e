#include "traffic/checkpoint/run_lock.h"
#include "support/fail_io.h"
#include "support/processes.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <optional>

#include "checkpoint/fixtures.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"

namespace traffic::checkpoint {
namespace {

using ::testing::HasSubstr;

class RunLockTest : public FolderTest {
 protected:
  /// Starts a child that takes the lock, reports this, and then waits to be killed.
  pid_t start_holder() {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    const pid_t child = traffic::test::fork_child();
    if (child == 0) {
      const RunLock lock(dir_);
      [[maybe_unused]] const ssize_t said = write(ready[1], "x", 1);
      pause();
      _exit(0);
    }
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
  }
  static void kill_holder(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
};

TEST_F(RunLockTest, SecondRunInTheSameFolderIsRefusedWithTheHolder) {
  const pid_t holder = start_holder();
  try {
    const RunLock lock(dir_);
    ADD_FAILURE() << "expected an error: another run holds the folder";
  } catch (const ResourceError& error) {
    EXPECT_THAT(error.what(),
                ::testing::AllOf(HasSubstr(fmt::format("pid {}", holder)), HasSubstr("--run-dir")));
  }
  kill_holder(holder);
}

TEST_F(RunLockTest, RemovingTheFileDoesNotReleaseTheLock) {
  const pid_t holder = start_holder();
  std::filesystem::remove(dir_ / "run.lock");
  EXPECT_THROW(const RunLock lock(dir_), ResourceError);
  kill_holder(holder);
}

TEST_F(RunLockTest, ALinkIsRefusedAndItsTargetStays) {
  write_bytes(dir_ / "mine.txt", {'m', 'i', 'n', 'e'});
  std::filesystem::create_symlink(dir_ / "mine.txt", dir_ / "run.lock");
  try {
    const RunLock lock(dir_);
    ADD_FAILURE() << "expected an error: run.lock is a link";
  } catch (const ResourceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("link"));
  }
  EXPECT_EQ(read_bytes(dir_ / "mine.txt").size(), 4U);
}

TEST_F(RunLockTest, AFileSystemWithoutLocksDoesNotPreventARun) {
  for (const int error : {ENOSYS, EOPNOTSUPP, ENOLCK}) {
    fail_io_arm("flock", dir_.c_str(), 1, error, 1000);
    EXPECT_NO_THROW(const RunLock lock(dir_)) << error;
    EXPECT_GT(fail_io_injected(), 0);
  }
  fail_io_arm("flock", dir_.c_str(), 1, EIO, 1);
  EXPECT_THROW(const RunLock lock(dir_), ResourceError);
  fail_io_disarm();
}

TEST_F(RunLockTest, AnInterruptedLockIsTriedAgain) {
  fail_io_arm("flock", dir_.c_str(), 1, EINTR, 2);
  EXPECT_NO_THROW(const RunLock lock(dir_));
  EXPECT_EQ(fail_io_injected(), 2);
  fail_io_disarm();
}

TEST_F(RunLockTest, LockOfADeadRunIsTakenOverAndReported) {
  const pid_t holder = start_holder();
  kill_holder(holder);
  const RunLock lock(dir_);
  EXPECT_THAT(lock.taken_over_from(), HasSubstr(fmt::format("pid {} on {}", holder, hostname())));
}

TEST_F(RunLockTest, AZombieHoldsNoLock) {
  // The holder was killed, but its parent has not waited for it. This happens in containers whose
  // first process never waits for its children.
  const pid_t holder = start_holder();
  kill(holder, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(holder), &info, WEXITED | WNOWAIT), 0);
  EXPECT_THAT(RunLock(dir_).taken_over_from(), HasSubstr(fmt::format("pid {} on", holder)));
  waitpid(holder, nullptr, 0);
}

TEST_F(RunLockTest, LockOfARecycledPidIsTakenOver) {
  // Process 1 is alive, but did not start at the time (in clock ticks) that the lock states.
  const std::string text = fmt::format("1 123456789 {} 2025-01-31T00:00:00Z\n", hostname());
  write_bytes(dir_ / "run.lock", {text.begin(), text.end()});
  EXPECT_THAT(RunLock(dir_).taken_over_from(), HasSubstr("pid 1 "));
}

TEST_F(RunLockTest, AnOrderlyEndLeavesNoLockToTakeOver) {
  { const RunLock first(dir_); }
  EXPECT_EQ(RunLock(dir_).taken_over_from(), "");
}

TEST_F(RunLockTest, ALockWithUnreadableHolderIsTakenOver) {
  write_bytes(dir_ / "run.lock", {'\0', 'x', '\n'});
  EXPECT_EQ(RunLock(dir_).taken_over_from(), "");
}

TEST_F(RunLockTest, IsNotInheritedByPrograms) {
  std::optional<RunLock> lock(std::in_place, dir_);
  const pid_t child = traffic::test::fork_child();
  if (child == 0) {
    execlp("sleep", "sleep", "60", nullptr);
    _exit(127);
  }
  // Wait until the child runs the program sleep: its descriptors are then the inherited ones.
  for (std::string name; name != "sleep\n";) {
    const std::vector<char> comm = read_bytes(fmt::format("/proc/{}/comm", child));
    name.assign(comm.begin(), comm.end());
  }
  lock.reset();
  EXPECT_NO_THROW(RunLock{dir_});
  kill_holder(child);
}

TEST_F(RunLockTest, FolderThatCannotBeWrittenIsAResourceError) {
  EXPECT_THROW(RunLock("/proc/self/nothing"), ResourceError);
}

}  // namespace
}  // namespace traffic::checkpoint
