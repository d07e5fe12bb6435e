#include "rollout/pool/supervisor.h"
#include "support/processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "rollout/pool/pool_fixture.h"
#include "traffic/os/process_id.h"

namespace traffic::rollout {
namespace {

using ::testing::HasSubstr;

/// Runs a supervisor of stand-in simulations in a thread, and acts as the rank.
class SupervisorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    plan_ = testing::small_plan();
    plan_.env_program = TRAFFIC_BIN_DIR "/rollout_stand_in_sim";
    plan_.max_restarts = 2;
  }

  void start(const char* manner) {
    setenv("TRAFFIC_TEST_SIM", manner, 1);
    memory_ = PoolMemory::create(plan_);
    os::enter_self(rank_block(memory_->head(), 0).process);
    thread_ = std::thread([this] {
      Supervisor supervisor(open_pool_memory(getpid(), memory_->file().get()), 0);
      end_ = supervisor.run();
    });
  }

  void TearDown() override {
    if (!thread_.joinable()) return;
    memory_->pool().closing = 1;
    thread_.join();
  }

  [[nodiscard]] RankSlot rank() const { return RankSlot(memory_->slot(0)); }
  [[nodiscard]] SlotHead& head() const { return *memory_->slot(0).head; }

  /// Waits until the condition is true. The limit only keeps a broken build from hanging.
  template <typename Condition>
  [[nodiscard]] static bool eventually(Condition condition) {
    for (int i = 0; i < 20000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  [[nodiscard]] bool answered() const {
    return eventually([this] { return !rank().busy(); });
  }
  [[nodiscard]] bool running() const {
    return eventually([this] { return head().ready_incarnation > 0; });
  }
  [[nodiscard]] bool fatal() const {
    return eventually([this] { return memory_->pool().fatal == FatalState::kWritten; });
  }

  PoolPlan plan_;
  std::optional<PoolMemory> memory_;
  std::thread thread_;
  Supervisor::End end_ = Supervisor::End::kOrphaned;
};

TEST_F(SupervisorTest, ASimulationThatIsKilledIsReplacedAndItsCommandAnswered) {
  start("mute");
  ASSERT_TRUE(running());
  const pid_t first = head().pid;
  rank().post(CommandKind::kReset, 0, {});
  traffic::test::send_signal(first, SIGKILL);
  ASSERT_TRUE(answered());
  EXPECT_EQ(rank().answer().kind, ReplyKind::kLost);
  EXPECT_THAT(rank().death(), HasSubstr("killed by signal 9"));
  ASSERT_TRUE(eventually([this] { return head().ready_incarnation == 2; }));
  EXPECT_NE(head().pid, first);
  EXPECT_EQ(rank().counters().restarts, 1U);
  EXPECT_EQ(memory_->pool().fatal, FatalState::kNone);
}

TEST_F(SupervisorTest, ASimulationThatFailsAtEveryStartIsGivenUpWithItsMessage) {
  start("exit");
  ASSERT_TRUE(fatal());
  const std::string text = memory_->pool().fatal_text.get();
  EXPECT_THAT(text, HasSubstr("ended with exit code 3"));
  EXPECT_THAT(text, HasSubstr("Network 'missing.net.xml' could not be loaded"));
  EXPECT_THAT(text, HasSubstr("3 failures in a row"));
  EXPECT_GT(memory_->bell(0).rings, 0U);
  EXPECT_EQ(head().incarnation, 3U);
}

TEST_F(SupervisorTest, AProgramThatIsMissingIsReportedAsSuch) {
  plan_.env_program = TRAFFIC_BIN_DIR "/no_such_program";
  start("well");
  ASSERT_TRUE(fatal());
  EXPECT_THAT(memory_->pool().fatal_text.get(), HasSubstr("no_such_program: No such file"));
}

TEST_F(SupervisorTest, ASimulationThatDoesNotAnswerIsKilledAndReplaced) {
  plan_.env_timeout_s = 2;
  start("mute");
  ASSERT_TRUE(running());
  rank().post(CommandKind::kReset, 0, {});
  ASSERT_TRUE(answered());
  EXPECT_THAT(rank().death(), HasSubstr("no sign of life for 2 s"));
  EXPECT_EQ(rank().counters().timeouts, 1U);
}

TEST_F(SupervisorTest, ASimulationThatIsStoppedIsReplacedLongBeforeTheLimit) {
  plan_.env_timeout_s = 3600;
  start("mute");
  ASSERT_TRUE(running());
  rank().post(CommandKind::kReset, 0, {});
  traffic::test::send_signal(head().pid, SIGSTOP);
  ASSERT_TRUE(answered());
  EXPECT_THAT(rank().death(), HasSubstr("was stopped by a signal"));
  EXPECT_EQ(rank().counters().timeouts, 1U);
}

TEST_F(SupervisorTest, ASimulationThatIsStoppedForAMomentGoesOn) {
  plan_.env_timeout_s = 3600;
  start("well");
  ASSERT_TRUE(running());
  const pid_t first = head().pid;
  traffic::test::send_signal(first, SIGSTOP);
  rank().post(CommandKind::kReset, 0, {});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  traffic::test::send_signal(first, SIGCONT);
  ASSERT_TRUE(answered());
  EXPECT_EQ(head().pid, first);
  EXPECT_EQ(rank().counters().restarts, 0U);
}

TEST_F(SupervisorTest, AnIdleSimulationIsNotKilledForItsSilence) {
  plan_.env_timeout_s = 2;
  start("mute");
  ASSERT_TRUE(running());
  std::this_thread::sleep_for(std::chrono::milliseconds(3000));
  EXPECT_EQ(rank().counters().timeouts, 0U);
  EXPECT_EQ(rank().counters().restarts, 0U);
}

TEST_F(SupervisorTest, ASimulationThatNeverGetsReadyIsKilled) {
  plan_.env_timeout_s = 0.1;
  start("silent");
  ASSERT_TRUE(fatal());
  EXPECT_EQ(rank().counters().timeouts, 3U);
}

TEST_F(SupervisorTest, ARejectedSimulationIsReplaced) {
  start("well");
  ASSERT_TRUE(running());
  rank().reject(1);
  ASSERT_TRUE(eventually([this] { return head().ready_incarnation == 2; }));
  EXPECT_EQ(rank().counters().restarts, 1U);
}

TEST_F(SupervisorTest, AFinishedEpisodeResetsTheCountOfFailuresInARow) {
  start("well");
  ASSERT_TRUE(running());
  for (std::uint32_t death = 1; death <= 6; ++death) {
    rank().counters().episodes += 1;  // as if the simulation had finished an episode
    traffic::test::send_signal(head().pid, SIGKILL);
    ASSERT_TRUE(eventually([&] { return head().ready_incarnation == death + 1; }));
  }
  EXPECT_EQ(memory_->pool().fatal, FatalState::kNone);
}

TEST_F(SupervisorTest, EndsItsSimulationsWhenThePoolIsClosed) {
  start("mute");
  ASSERT_TRUE(running());
  const pid_t pid = head().pid;
  memory_->pool().closing = 1;
  thread_.join();
  EXPECT_EQ(end_, Supervisor::End::kClosed);
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(worker_block(memory_->head(), 0).state, WorkerState::kStopped);
}

TEST_F(SupervisorTest, EndsItsSimulationsWhenARankIsGone) {
  start("mute");
  ASSERT_TRUE(running());
  const pid_t simulation = head().pid;
  const pid_t rank = traffic::test::fork_child();
  if (rank == 0) _exit(0);
  waitpid(rank, nullptr, 0);
  rank_block(memory_->head(), 0).process.pid = rank;
  thread_.join();
  EXPECT_EQ(end_, Supervisor::End::kOrphaned);
  EXPECT_EQ(kill(simulation, 0), -1);
}

TEST(RestartPause, GrowsFromNothingToItsLimit) {
  EXPECT_EQ(restart_pause_s(1), 0.0);
  EXPECT_EQ(restart_pause_s(2), 0.1);
  EXPECT_EQ(restart_pause_s(3), 0.2);
  EXPECT_EQ(restart_pause_s(1000), 2.0);
}

}  // namespace
}  // namespace traffic::rollout
