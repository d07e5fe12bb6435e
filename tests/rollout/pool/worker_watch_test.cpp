#include "rollout/pool/worker_watch.h"
#include "support/processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <limits>
#include <thread>

#include "rollout/pool/pool_fixture.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/os/process_id.h"

namespace traffic::rollout {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// With this count of earlier kills for lack of memory, the watch never sees a new one.
constexpr std::int64_t kOomKills = std::numeric_limits<std::int64_t>::max();

/// A child process acts as the worker.
class WorkerWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    pid_ = traffic::test::fork_child();
    if (pid_ == 0) {
      os::enter_self(block().process);
      block().heartbeat_ns = monotonic_ns();
      block().state = WorkerState::kRunning;
      pause();
      _exit(0);
    }
    while (block().state != WorkerState::kRunning) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void TearDown() override {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  WorkerBlock& block() { return worker_block(memory_.head(), 0); }

  PoolMemory memory_ = PoolMemory::create(testing::small_plan());
  pid_t pid_ = -1;
};

TEST_F(WorkerWatchTest, AWorkerWithARecentHeartbeatIsAlive) {
  EXPECT_NO_THROW(require_workers_alive(memory_, 60.0, kOomKills));
  EXPECT_NO_THROW(require_open(memory_, 0));
}

TEST_F(WorkerWatchTest, AWorkerThatDoesNotStartInTimeIsNamed) {
  EXPECT_NO_THROW(wait_for_workers(memory_, 60.0));
  block().state = WorkerState::kNone;
  EXPECT_THAT([&] { wait_for_workers(memory_, 0.05); },
              ThrowsMessage<WorkerError>(HasSubstr("rollout_worker 0 of 1 was started, but")));
}

TEST_F(WorkerWatchTest, ADeadWorkerIsNamed) {
  kill(pid_, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  EXPECT_THAT([&] { require_workers_alive(memory_, 60.0, kOomKills); },
              ThrowsMessage<WorkerError>(HasSubstr("rollout_worker 0")));
}

TEST_F(WorkerWatchTest, AWorkerThatHasBeenSilentForTooLongIsNamed) {
  block().heartbeat_ns = monotonic_ns() - 61'000'000'000;
  EXPECT_THAT([&] { require_workers_alive(memory_, 60.0, kOomKills); },
              ThrowsMessage<WorkerError>(HasSubstr("no sign of life for 61 s")));
}

TEST_F(WorkerWatchTest, TheCallerSetsTheLimitOfSilence) {
  block().heartbeat_ns = monotonic_ns() - 6'000'000'000;
  EXPECT_NO_THROW(require_workers_alive(memory_, 60.0, kOomKills));
  EXPECT_THAT([&] { require_workers_alive(memory_, 5.0, kOomKills); },
              ThrowsMessage<WorkerError>(HasSubstr("is it stopped?")));
}

TEST_F(WorkerWatchTest, TheReasonWhyAWorkerGivesUpReachesTheRank) {
  memory_.pool().fatal_text.set("simulation 3 failed: no network");
  memory_.pool().fatal = FatalState::kWritten;
  EXPECT_THAT([&] { require_open(memory_, 0); },
              ThrowsMessage<WorkerError>(HasSubstr("simulation 3 failed: no network")));
}

TEST_F(WorkerWatchTest, AWorkerThatDoesNotEndIsKilled) {
  EXPECT_FALSE(close_pool(memory_, 0.05));
  int status = 0;
  waitpid(pid_, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_THROW(require_open(memory_, 0), WorkerError);
}

TEST_F(WorkerWatchTest, ADeadWorkerIsNotWaitedFor) {
  kill(pid_, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  // The limit is far longer than the test may take.
  EXPECT_FALSE(close_pool(memory_, 1e5));
}

}  // namespace
}  // namespace traffic::rollout
