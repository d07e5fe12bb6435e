#include "train/search/rounds.h"

#include <gtest/gtest.h>

namespace traffic::train {
namespace {

TEST(Rounds, KeepAThirdOfTheScriptsAndGiveThemMoreSeeds) {
  const auto rounds = plan_rounds(18, 4, 300);
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_EQ(rounds[0].scripts, 18);
  EXPECT_EQ(rounds[1].scripts, 6);
  EXPECT_EQ(rounds[0].seeds, 150 / 19);
  EXPECT_EQ(rounds[1].seeds, 150 / 7);
  EXPECT_LE(count_episodes(rounds), 300);
}

TEST(Rounds, TryFewerScriptsRatherThanASingleSeedForEach) {
  const auto rounds = plan_rounds(30, 4, 60);
  EXPECT_LT(rounds.front().scripts, 30);
  EXPECT_GE(rounds.front().scripts, 4);
  for (const Round& round : rounds) EXPECT_GE(round.seeds, 2);
  EXPECT_LE(count_episodes(rounds), 60);
}

TEST(Rounds, TryOneOfEachKindEvenWithoutEpisodes) {
  const auto rounds = plan_rounds(30, 3, 0);
  EXPECT_EQ(rounds.front().scripts, 3);
  EXPECT_EQ(rounds.front().seeds, 2);
}

TEST(Rounds, WithinAnUpperLimitFewScriptsAreTriedOnTwoSeedsEach) {
  for (const std::int64_t episodes : {4, 5, 9, 17, 40, 200}) {
    const auto rounds = plan_rounds_within(30, episodes);
    ASSERT_FALSE(rounds.empty()) << episodes;
    EXPECT_LE(count_episodes(rounds), episodes);
    for (const Round& round : rounds) EXPECT_GE(round.seeds, 2);
  }
  EXPECT_TRUE(plan_rounds_within(30, 3).empty())
      << "one script and no control, on two seeds each, take four episodes";
}

TEST(Rounds, OneScriptIsOneRound) {
  const auto rounds = plan_rounds(1, 1, 100);
  ASSERT_EQ(rounds.size(), 1U);
  EXPECT_EQ(rounds[0].scripts, 1);
  EXPECT_EQ(rounds[0].seeds, 32);  // the maximum number of seeds
}

}  // namespace
}  // namespace traffic::train
