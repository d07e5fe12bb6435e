#include "traffic/game/opponents.h"

#include <gtest/gtest.h>

#include <vector>

#include "traffic/game/match.h"
#include "traffic/report/paired_statistics.h"

namespace traffic::game {
namespace {

report::MeanInterval score_of(Opponent own, Opponent other, int pairs) {
  std::vector<double> scores;
  for (const Pair& pair : play_match(player_of(own), player_of(other), pairs, 1000)) {
    scores.push_back(pair.score());
  }
  return report::mean_interval(scores);
}

TEST(Opponents, EachIsStrongerThanTheOneBefore) {
  for (int level = 1; level < kNumOpponents; ++level) {
    const auto own = static_cast<Opponent>(level);
    const auto other = static_cast<Opponent>(level - 1);
    const report::MeanInterval score = score_of(own, other, 500);
    EXPECT_GT(score.low(), 0.5) << name_of(own) << " against " << name_of(other) << ": mean score "
                                << score.mean;
  }
}

TEST(Opponents, TheStrongScriptsBeatGreedyClearly) {
  EXPECT_GT(score_of(Opponent::kTorus, Opponent::kGreedy, 200).low(), 0.6);
  EXPECT_GT(score_of(Opponent::kBfs, Opponent::kGreedy, 200).low(), 0.75);
  EXPECT_GT(score_of(Opponent::kEvasive, Opponent::kGreedy, 200).low(), 0.8);
}

TEST(Opponents, AreNamedByWordOrLevel) {
  for (int level = 0; level < kNumOpponents; ++level) {
    const auto opponent = static_cast<Opponent>(level);
    EXPECT_EQ(opponent_named(name_of(opponent)), opponent);
    EXPECT_EQ(opponent_named(std::to_string(level)), opponent);
  }
  EXPECT_EQ(opponent_named("strong"), std::nullopt);
  EXPECT_EQ(opponent_named("6"), std::nullopt);
  EXPECT_EQ(opponent_names(), "random, chase, greedy, torus, bfs, evasive");
}

TEST(Opponents, PlayTheSameGameFromTheSameSeed) {
  const std::array<Player, kTeams> players{player_of(Opponent::kRandom),
                                           player_of(Opponent::kEvasive)};
  std::vector<Actions> first;
  std::vector<Actions> second;
  play_game(5, players, [&](const Board& board) { first.push_back(board.direction); });
  play_game(5, players, [&](const Board& board) { second.push_back(board.direction); });
  EXPECT_EQ(first.size(), kMaxSteps + 1U);
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace traffic::game
