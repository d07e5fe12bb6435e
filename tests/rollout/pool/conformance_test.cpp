// Tests of every kind of pool: environments in processes of their own, and environments in the
// rank.
#include <gmock/gmock.h>

#include <cstring>
#include <memory>
#include <vector>

#include "rollout/pool/counting_pools.h"
#include "traffic/core/error.h"

namespace traffic::rollout {
namespace {

using testing::bytes_of;
using testing::CountAnswer;
using testing::CountOrder;
using ::testing::HasSubstr;
using testing::kEnvs;
using testing::kMaxRestarts;
using ::testing::SizeIs;

template <typename Where>
class PoolTest : public ::testing::Test {
 protected:
  void TearDown() override {
    if (pool_) pool_->close();
  }
  Event only(int env) { return *pool_->wait_any(std::span(&env, 1)); }
  [[nodiscard]] CountAnswer answer(int env) const {
    CountAnswer answer;
    const auto bytes = pool_->answer(env);
    EXPECT_EQ(bytes.size(), sizeof(answer));
    std::memcpy(&answer, bytes.data(), sizeof(answer));
    return answer;
  }
  /// Resets an environment and takes the answer.
  void begin(int env, const CountOrder& order) {
    pool_->reset(env, bytes_of(order));
    EXPECT_FALSE(only(env).lost);
  }

  std::unique_ptr<EnvPool> pool_ = Where::make();
  int first_ = pool_->my_envs().front();
};

TYPED_TEST_SUITE(PoolTest, testing::Pools);

TYPED_TEST(PoolTest, AnEnvironmentBelongsToTheRankOfItsNumber) {
  const testing::Ranks ranks = TypeParam::ranks();
  EnvPool& pool = *this->pool_;
  EXPECT_EQ(pool.num_envs(), kEnvs);
  std::vector<int> grouped;
  for (const auto& group : pool.groups()) {
    grouped.insert(grouped.end(), group.begin(), group.end());
  }
  EXPECT_THAT(grouped, ::testing::ElementsAreArray(pool.my_envs()));
  EXPECT_THAT(grouped, SizeIs(kEnvs / ranks.size));
  for (const int env : pool.my_envs()) EXPECT_EQ(env % ranks.size, ranks.rank);
  EXPECT_THROW((void)pool.busy(kEnvs), Error);
  if (ranks.size > 1) {
    EXPECT_THROW(pool.reset(ranks.rank + 1, {}), Error)
        << "the environment is another rank's, or does not exist";
  }
}

TYPED_TEST(PoolTest, AnEpisodeIsAResetAndStepsToItsEnd) {
  EnvPool& pool = *this->pool_;
  const int env = this->first_;
  EXPECT_FALSE(pool.has_answer(env));
  EXPECT_THROW((void)pool.answer(env), Error);
  EXPECT_THROW(pool.step(env, bytes_of({})), Error) << "a step needs an episode that has begun";
  pool.reset(env, bytes_of({.value = 100, .length = 2}));
  EXPECT_TRUE(pool.busy(env));
  EXPECT_THROW(pool.reset(env, bytes_of({})), Error) << "a busy environment must not be reset";
  Event event = this->only(env);
  EXPECT_EQ(event.env, env);
  EXPECT_FALSE(event.lost || event.done || pool.busy(env));
  EXPECT_EQ(this->answer(env).sum, 100);
  EXPECT_EQ(this->answer(env).env, env);
  pool.step(env, bytes_of({.value = 7}));
  EXPECT_FALSE(this->only(env).done);
  EXPECT_EQ(this->answer(env).sum, 107);
  pool.step(env, bytes_of({.value = -3}));
  EXPECT_TRUE(this->only(env).done);
  EXPECT_EQ(this->answer(env).sum, 104);
  EXPECT_THROW(pool.step(env, bytes_of({})), Error)
      << "a step after the end of the episode must be refused";
  this->begin(env, {.value = 1, .length = 5});
  EXPECT_EQ(this->answer(env).sum, 1);
  EXPECT_EQ(this->answer(env).steps, 0);
}

TYPED_TEST(PoolTest, AllThatAreBusyAreWaitedForInTheirOrder) {
  EnvPool& pool = *this->pool_;
  const std::vector<int> backwards(pool.my_envs().rbegin(), pool.my_envs().rend());
  std::vector<Event> events(17);
  pool.wait_all(backwards, events);
  EXPECT_THAT(events, SizeIs(0));
  EXPECT_THROW(pool.wait_any(backwards), Error)
      << "waiting must be refused if no environment is busy";
  for (const int env : pool.my_envs()) pool.reset(env, bytes_of({.value = env, .length = 3}));
  pool.wait_all(backwards, events);
  ASSERT_THAT(events, SizeIs(backwards.size()));
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].env, backwards[i]);
  pool.step(this->first_, bytes_of({.value = 10}));
  EXPECT_THAT(pool.wait_all(backwards), SizeIs(1));
  for (const int env : pool.my_envs()) {
    EXPECT_EQ(this->answer(env).sum, env + (env == this->first_ ? 10 : 0))
        << "each environment must have a sum of its own";
  }
}

TYPED_TEST(PoolTest, AFailureCostsTheEpisodeAndNothingElse) {
  EnvPool& pool = *this->pool_;
  const int env = this->first_;
  const int other = pool.my_envs().back();
  for (const auto manner : {CountOrder::Manner::kThrow, CountOrder::Manner::kTooMuch}) {
    this->begin(other, {.value = 5, .length = 9});
    this->begin(env, {.value = 1, .length = 1});
    pool.step(env, bytes_of({.manner = manner}));
    const Event event = this->only(env);
    EXPECT_TRUE(event.lost);
    EXPECT_THAT(event.why, HasSubstr(std::to_string(env) + " failed: "));
    if (manner == CountOrder::Manner::kThrow) {
      EXPECT_THAT(event.why, HasSubstr("as it was told to"));
    }
    EXPECT_FALSE(pool.has_answer(env) || pool.busy(env));
    EXPECT_EQ(this->answer(other).sum, 5);
    this->begin(env, {.value = 2, .length = 1});
    pool.step(env, bytes_of({}));
    EXPECT_TRUE(this->only(env).done);
  }
  EXPECT_GE(pool.counters().lost_episodes, 2U);
  EXPECT_GE(pool.counters().restarts, 2U);
}

TYPED_TEST(PoolTest, AnEnvironmentThatFinishesNothingIsGivenUp) {
  const int env = this->first_;
  const auto try_again = [&] {
    for (int i = 0; i < 10; ++i) {
      this->pool_->reset(env, bytes_of({.manner = CountOrder::Manner::kThrow}));
      EXPECT_TRUE(this->only(env).lost);
    }
  };
  EXPECT_THAT(try_again, ::testing::ThrowsMessage<WorkerError>(::testing::AllOf(
                             HasSubstr("as it was told to"), HasSubstr("3 failures in a row"))));
}

TYPED_TEST(PoolTest, ARejectedAnswerIsALostEpisode) {
  EnvPool& pool = *this->pool_;
  const int env = this->first_;
  this->begin(env, {.value = 1, .length = 5});
  pool.reject(env);
  EXPECT_FALSE(pool.has_answer(env) || pool.busy(env));
  EXPECT_THROW(pool.step(env, bytes_of({})), Error);
  EXPECT_GE(pool.counters().rejected, 1U);
  EXPECT_GE(pool.counters().lost_episodes, 1U);
}

TYPED_TEST(PoolTest, CountsStepsAndEpisodes) {
  EnvPool& pool = *this->pool_;
  for (const int env : pool.my_envs()) {
    this->begin(env, {.length = 2});
    for (int step = 0; step < 2; ++step) {
      pool.step(env, bytes_of({}));
      this->only(env);
    }
  }
  EXPECT_GE(pool.counters().steps, 2 * pool.my_envs().size());
  EXPECT_GE(pool.counters().episodes, pool.my_envs().size());
  EXPECT_EQ(pool.counters().lost_episodes, 0U);
  EXPECT_EQ(pool.counters().timeouts, 0U);
}

}  // namespace
}  // namespace traffic::rollout
