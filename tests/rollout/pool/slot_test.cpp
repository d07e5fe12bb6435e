#include "rollout/pool/slot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "rollout/pool/pool_fixture.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"

namespace traffic::rollout {
namespace {

using ::testing::HasSubstr;

class SlotTest : public ::testing::Test {
 protected:
  PoolMemory memory_ = PoolMemory::create(testing::small_plan());
  RankSlot rank_{memory_.slot(0)};
  WorkerSlot worker_{memory_.slot(0), memory_.bell(0)};
  std::uint32_t incarnation_ = worker_.begin_incarnation();
  EnvSlot sim_{memory_.slot(0), memory_.bell(0), incarnation_};

  std::uint32_t rings() { return memory_.bell(0).rings.load(); }
};

TEST_F(SlotTest, ACommandReachesTheSimulationAndItsAnswerTheRank) {
  EXPECT_FALSE(rank_.busy());
  const std::string green = "green";
  rank_.post(CommandKind::kStep, incarnation_, std::as_bytes(std::span(green)));
  EXPECT_TRUE(rank_.busy());
  EXPECT_TRUE(worker_.pending());

  const auto order = sim_.wait(1.0);
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->kind, CommandKind::kStep);
  EXPECT_EQ(order->incarnation, incarnation_);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(order->payload.data()), 5), "green");

  const std::uint32_t rings_before = rings();
  std::memcpy(sim_.reply_buffer().data(), "moved", 5);
  sim_.answer(ReplyKind::kAnswer, 5);
  EXPECT_FALSE(rank_.busy());
  EXPECT_EQ(rings(), rings_before + 1);
  EXPECT_EQ(rank_.answer().kind, ReplyKind::kAnswer);
  EXPECT_EQ(rank_.answer().size, 5U);
  EXPECT_EQ(std::memcmp(rank_.reply_buffer().data(), "moved", 5), 0);
}

TEST_F(SlotTest, WaitingEndsAtTheDeadline) {
  const Stopwatch waited;
  EXPECT_FALSE(sim_.wait(0.02).has_value());
  EXPECT_GE(waited.seconds(), 0.02);
}

TEST_F(SlotTest, ASleepingSimulationIsWokenByTheCommand) {
  std::thread poster([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    rank_.post(CommandKind::kReset, 0, {});
  });
  // The limit is far longer than the test may take, so only the wake-up ends the wait.
  EXPECT_TRUE(sim_.wait(100.0).has_value());
  poster.join();
}

TEST_F(SlotTest, TheWorkerAnswersForADeadSimulation) {
  sim_.announce_ready();
  rank_.post(CommandKind::kStep, incarnation_, {});
  worker_.report_death("simulation 0 was killed");
  ASSERT_FALSE(rank_.busy());
  EXPECT_EQ(rank_.answer().kind, ReplyKind::kLost);
  EXPECT_EQ(rank_.death(), "simulation 0 was killed");
}

TEST_F(SlotTest, ADeathBetweenCommandsIsNoAnswer) {
  rank_.post(CommandKind::kReset, 0, {});
  sim_.answer(ReplyKind::kAnswer, 0);
  const std::uint32_t rings_before = rings();
  worker_.report_death("simulation 0 was killed");
  EXPECT_FALSE(rank_.busy());
  EXPECT_EQ(rank_.answer().kind, ReplyKind::kAnswer);
  EXPECT_EQ(rings(), rings_before);
}

TEST_F(SlotTest, AnOrderedEpisodeSurvivesAProcessThatDiesAtItsStart) {
  rank_.post(CommandKind::kReset, 0, {});
  worker_.report_death("died before it was ready");
  EXPECT_TRUE(rank_.busy());
  const std::uint32_t next = worker_.begin_incarnation();
  EXPECT_EQ(next, incarnation_ + 1);
  EnvSlot successor(memory_.slot(0), memory_.bell(0), next);
  EXPECT_TRUE(successor.wait(0.0).has_value());
  successor.answer(ReplyKind::kAnswer, 0);
  EXPECT_EQ(rank_.answer().incarnation, next);
}

TEST_F(SlotTest, ANewIncarnationIsNeitherReadyNorRejected) {
  EXPECT_FALSE(worker_.ready());
  sim_.announce_ready();
  EXPECT_TRUE(worker_.ready());
  rank_.reject(incarnation_);
  EXPECT_TRUE(worker_.rejected());
  worker_.begin_incarnation();
  EXPECT_FALSE(worker_.ready());
  EXPECT_FALSE(worker_.rejected());
}

TEST_F(SlotTest, ACommandLargerThanTheSlotIsRefused) {
  const std::vector<std::byte> large(1001);
  EXPECT_THROW(rank_.post(CommandKind::kStep, incarnation_, large), WorkerError);
  rank_.post(CommandKind::kStep, incarnation_, {});
  memory_.slot(0).head->command_size = 1001;  // as a faulty rank might write it
  EXPECT_THROW((void)sim_.wait(0.0), WorkerError);
}

TEST_F(SlotTest, LongTextsAreCutToTheirCapacity) {
  sim_.explain_end(std::string(5000, 'x'));
  EXPECT_EQ(worker_.explanation().size(), 2047U);
  worker_.begin_incarnation();
  EXPECT_EQ(worker_.explanation(), "");
}

TEST(PoolMemory, PartsDoNotOverlapAndBeginOnPages) {
  const PoolMemory memory = PoolMemory::create(testing::small_plan(5, 3));
  const Geometry& geometry = memory.geometry();
  EXPECT_EQ(geometry.bells_offset() % 4096, 0U);
  EXPECT_GE(geometry.bells_offset(), geometry.head_bytes());
  for (std::uint32_t e = 0; e < 5; ++e) {
    EXPECT_EQ(geometry.slot_offset(e) % 4096, 0U);
    const SlotView view = memory.slot(e);
    EXPECT_EQ(view.command.size(), 1000U);
    EXPECT_EQ(view.reply.size(), 10000U);
    const auto* head_end = reinterpret_cast<const std::byte*>(view.head + 1);
    EXPECT_LE(head_end, view.command.data());
    EXPECT_LE(view.command.data() + view.command.size(), view.reply.data());
    std::memset(view.reply.data(), 0xff, view.reply.size());
    std::memset(view.command.data(), 0xff, view.command.size());
  }
  for (std::uint32_t e = 0; e < 5; ++e) EXPECT_EQ(memory.slot(e).head->command_seq.load(), 0U);
}

TEST(PoolMemory, IsTheSameSeenThroughAnotherDescriptor) {
  const PoolMemory mine = PoolMemory::create(testing::small_plan());
  const PoolMemory theirs(open_pool_memory(getpid(), mine.file().get()));
  mine.slot(0).reply[7] = std::byte{42};
  EXPECT_EQ(theirs.slot(0).reply[7], std::byte{42});
}

TEST(PoolMemory, OfAnotherBuildIsRefused) {
  PoolMemory memory = PoolMemory::create(testing::small_plan());
  memory.pool().layout += 1;
  EXPECT_THAT([&] { PoolMemory again(open_pool_memory(getpid(), memory.file().get())); },
              ::testing::ThrowsMessage<WorkerError>(HasSubstr("from different builds")));
}

TEST(PoolMemory, ThatIsTooShortIsRefused) {
  PoolMemory memory = PoolMemory::create(testing::small_plan());
  memory.pool().geometry.num_envs = 1000;
  EXPECT_THROW(PoolMemory(open_pool_memory(getpid(), memory.file().get())), ResourceError);
}

}  // namespace
}  // namespace traffic::rollout
