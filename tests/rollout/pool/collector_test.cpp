// Tests the collector with both kinds of pools: environments in processes of their own, and in the
// rank.
#include "traffic/rollout/pool/collector.h"

#include <gmock/gmock.h>

#include <cstring>
#include <map>
#include <vector>

#include "rollout/pool/counting_pools.h"

namespace traffic::rollout {
namespace {

using testing::bytes_of;
using testing::CountAnswer;
using testing::CountOrder;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

/// Adds 1 in every step; an episode begins with 1,000 times its number.
class Counting final : public FragmentHandler {
 public:
  explicit Counting(EnvPool& pool) : pool_(pool) {}

  EpisodeProgress& progress(int env) override { return progress_[env]; }
  void begin(int env) override {
    const EpisodeProgress& at = progress_[env];
    pool_.reset(env, bytes_of({.value = 1000 * at.episode, .length = length_of(at.episode)}));
  }
  bool resume(int env) override {
    ++resumed;
    return pool_.has_answer(env);
  }
  bool take_in(int env) override {
    std::memcpy(&answers_[env], pool_.answer(env).data(), sizeof(CountAnswer));
    return true;
  }
  void end(int env) override { sums.push_back(answers_[env].sum); }
  void lose(const Event& event) override { lost.push_back(progress_[event.env].episode); }
  void observe(std::span<const int> envs) override { observed += std::ssize(envs); }
  void decide(std::span<const int> envs) override {
    for (const int env : envs) {
      CountOrder order{.value = 1};
      const bool fails = progress_[env].episode == failing && progress_[env].losses == 0;
      if (fails && answers_[env].steps == 2) order.manner = CountOrder::Manner::kThrow;
      pool_.step(env, bytes_of(order));
      ++decided[env];
    }
  }
  void cut(int env) override { cuts.push_back(env); }

  static std::int64_t length_of(std::int64_t episode) { return 3 + episode % 4; }

  std::int64_t failing = -1;  ///< this episode loses its environment, once
  std::int64_t resumed = 0;
  std::int64_t observed = 0;
  std::map<int, std::int64_t> decided;
  std::vector<std::int64_t> sums;  ///< sums of the episodes that ended
  std::vector<std::int64_t> lost;
  std::vector<int> cuts;

 private:
  EnvPool& pool_;
  std::map<int, EpisodeProgress> progress_;
  std::map<int, CountAnswer> answers_;
};

template <typename Where>
class CollectorTest : public ::testing::Test {
 protected:
  void TearDown() override { pool_->close(); }

  std::unique_ptr<EnvPool> pool_ = Where::make();
  TimeSplit time_split_;
  Collector collector_{*pool_, time_split_};
  Counting handler_{*pool_};
};

TYPED_TEST_SUITE(CollectorTest, testing::Pools);

TYPED_TEST(CollectorTest, RunsEveryEpisodeOnceToItsEnd) {
  constexpr std::int64_t kEpisodes = 40;
  EXPECT_TRUE(this->collector_.run_episodes(kEpisodes, this->handler_));
  std::vector<std::int64_t> expected;
  for (std::int64_t e = 0; e < kEpisodes; ++e) {
    expected.push_back(1000 * e + Counting::length_of(e));
  }
  EXPECT_THAT(this->handler_.sums, ::testing::UnorderedElementsAreArray(expected));
  EXPECT_GT(this->time_split_.seconds(TimeShare::kSimulate), 0.0);
}

TYPED_TEST(CollectorTest, BeginsTheEpisodeOfALostEnvironmentAgain) {
  this->handler_.failing = 5;
  EXPECT_TRUE(this->collector_.run_episodes(12, this->handler_));
  EXPECT_THAT(this->handler_.lost, ElementsAre(5));
  EXPECT_THAT(this->handler_.sums, SizeIs(12));
  EXPECT_THAT(this->handler_.sums, ::testing::Contains(5000 + Counting::length_of(5)).Times(1));
}

TYPED_TEST(CollectorTest, EveryEnvironmentContributesItsStepsAndContinuesNextTime) {
  const auto envs = static_cast<std::int64_t>(this->pool_->my_envs().size());
  EXPECT_TRUE(this->collector_.run_fragments(8, this->handler_));
  for (const auto& [env, steps] : this->handler_.decided) EXPECT_EQ(steps, 8) << env;
  EXPECT_THAT(this->handler_.decided, SizeIs(static_cast<std::size_t>(envs)));
  // The first two episodes have 3 and 4 steps. The third has begun and is cut after one step.
  EXPECT_THAT(this->handler_.sums, SizeIs(static_cast<std::size_t>(2 * envs)));
  EXPECT_THAT(this->handler_.cuts, SizeIs(static_cast<std::size_t>(envs)));
  EXPECT_EQ(this->handler_.resumed, 0);
  EXPECT_TRUE(this->collector_.run_fragments(4, this->handler_));
  EXPECT_EQ(this->handler_.resumed, envs);
  // The third episode has 5 steps, so it ends with the last of these four.
  EXPECT_THAT(this->handler_.sums, SizeIs(static_cast<std::size_t>(3 * envs)));
  EXPECT_THAT(this->handler_.sums, ::testing::Contains(2005).Times(static_cast<int>(envs)));
  EXPECT_THAT(this->handler_.cuts, SizeIs(static_cast<std::size_t>(envs)));
}

TYPED_TEST(CollectorTest, StepsOfALostEnvironmentAreContributedAnew) {
  this->handler_.failing = 1;
  EXPECT_TRUE(this->collector_.run_fragments(8, this->handler_));
  EXPECT_THAT(this->handler_.lost, SizeIs(this->pool_->my_envs().size()));
  EXPECT_THAT(this->handler_.lost, Each(1));
  for (const auto& [env, steps] : this->handler_.decided) {
    EXPECT_EQ(steps, 8 + 3) << env << ": three steps were lost with their environment";
  }
}

TYPED_TEST(CollectorTest, StopsBetweenAnswers) {
  int asked = 0;
  EXPECT_FALSE(this->collector_.run_episodes(1000, this->handler_, [&] { return ++asked == 5; }));
  EXPECT_EQ(asked, 5);
}

}  // namespace
}  // namespace traffic::rollout
