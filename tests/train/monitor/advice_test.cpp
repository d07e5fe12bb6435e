#include "train/monitor/advice.h"

#include <gmock/gmock.h>

namespace traffic::train {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;

TEST(Adviser, AdvisesOnceAndAgainIfTheProblemReturnsMuchLater) {
  Adviser adviser;
  const report::NamedValues slow{{"wait/data", 0.5}};
  EXPECT_THAT(adviser.look(slow), IsEmpty());
  EXPECT_THAT(adviser.look(slow), IsEmpty());
  EXPECT_THAT(adviser.look(slow),
              ElementsAre(AllOf(HasSubstr("50 %"), HasSubstr("data.num_workers"))));
  EXPECT_THAT(adviser.look(slow), IsEmpty());
  // The share oscillates about its limit.
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(adviser.look({{"wait/data", 0.19}}), IsEmpty());
    for (int j = 0; j < 3; ++j) EXPECT_THAT(adviser.look({{"wait/data", 0.21}}), IsEmpty());
  }
  for (int i = 0; i < 20; ++i) EXPECT_THAT(adviser.look({{"wait/data", 0.1}}), IsEmpty());
  for (int i = 0; i < 2; ++i) EXPECT_THAT(adviser.look(slow), IsEmpty());
  EXPECT_THAT(adviser.look(slow), ElementsAre(HasSubstr("data.num_workers")));
}

TEST(Adviser, NamesTheKeyForEachMetric) {
  const std::vector<std::pair<report::NamedValues, std::string>> cases{
      {{{"wait/small_steps", 0.6}}, "data.batch_size"},
      {{{"wait/other_ranks", 0.6}}, "data.shard_weights"},
      {{{"wait/ranks", 0.8}}, "ppo.num_epochs"},
      {{{"wait/simulations", 0.97}}, "rollout.workers"},
      {{{"train/overflow_rate", 0.2}}, "loss_scale.initial"},
      {{{"train/clipped", 1.0}}, "train.clip_norm"},
      {{{"gpu/busy", 0.1}}, "data.batch_size"}};
  for (const auto& [figures, key] : cases) {
    Adviser adviser;
    adviser.look(figures);
    adviser.look(figures);
    EXPECT_THAT(adviser.look(figures), ElementsAre(HasSubstr(key)));
  }
  Adviser content;
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(content.look({{"wait/data", 0.05}, {"gpu/busy", 0.95}, {"train/loss", 7.0}}),
                IsEmpty());
  }
}

TEST(WaitShares, AreThoseSinceTheLastCall) {
  TimeSplit split;
  WaitShares shares;
  {
    const auto waiting = split.measure(TimeShare::kData);
    while (split.seconds(TimeShare::kData) < 0.002) {
    }
  }
  const auto first = shares.take(split, 0.0, /*simulates=*/false);
  ASSERT_THAT(first, Contains(Key("wait/data")));
  EXPECT_GT(first[0].second, 0.0);
  EXPECT_THAT(first, Not(Contains(Key("wait/ranks"))));
  {
    const auto learning = split.measure(TimeShare::kLearn);
    while (split.seconds(TimeShare::kLearn) < 0.002) {
    }
  }
  const auto second = shares.take(split, 1e9, /*simulates=*/true);
  EXPECT_EQ(second[0].second, 0.0);  // nothing was read since the first call
  EXPECT_EQ(second[1].second, 1.0);
  EXPECT_EQ(second[4].first, "wait/ranks");
  EXPECT_GT(second[4].second, 0.0);
}

}  // namespace
}  // namespace traffic::train
