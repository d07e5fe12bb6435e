#include "traffic/game/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "game/recorded_games.h"
#include "traffic/core/error.h"

namespace traffic::game {
namespace {

using testing::state_of;

/// Several games at once: the script kBfs (team 0) against kRandom (team 1).
struct Play {
  explicit Play(int games)
      : arena(games),
        actions(static_cast<std::size_t>(games * kSnakes)),
        rewards(actions.size()),
        over(static_cast<std::size_t>(games)) {}

  void step() {
    for (int i = 0; i < arena.size(); ++i) {
      for (int team = 0; team < kTeams; ++team) {
        const TeamActions chosen =
            arena.choose(i, team, team == 0 ? Opponent::kBfs : Opponent::kRandom);
        std::ranges::copy(chosen, actions.begin() + i * kSnakes + first_snake(team));
      }
    }
    arena.step({.actions = actions, .rewards = rewards, .over = over});
  }

  Arena arena;
  std::vector<std::uint8_t> actions;
  std::vector<float> rewards;
  std::vector<std::uint8_t> over;
};

TEST(Arena, PlaysTheSameGamesAsPlayGame) {
  constexpr int kGames = 5;
  Play play(kGames);
  for (int i = 0; i < kGames; ++i) play.arena.start(i, 40 + static_cast<std::uint64_t>(i));
  std::vector<float> sums(play.rewards.size());
  for (int step = 0; step < kMaxSteps; ++step) {
    EXPECT_EQ(play.over, std::vector<std::uint8_t>(kGames, 0));
    play.step();
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += play.rewards[i];
  }
  EXPECT_EQ(play.over, std::vector<std::uint8_t>(kGames, 1));
  for (int i = 0; i < kGames; ++i) {
    const Board expected = play_game(40 + static_cast<std::uint64_t>(i),
                                     {player_of(Opponent::kBfs), player_of(Opponent::kRandom)});
    EXPECT_EQ(state_of(play.arena.board(i)), state_of(expected));
    for (std::size_t snake = 0; snake < kSnakes; ++snake) {
      EXPECT_EQ(sums[static_cast<std::size_t>(i) * kSnakes + snake],
                static_cast<float>(expected.length[snake] - kStartLength));
    }
  }
}

TEST(Arena, ContinuesASavedGameToTheBit) {
  Play play(2);
  play.arena.start(0, 1);
  play.arena.start(1, 2);
  for (int step = 0; step < 50; ++step) play.step();
  const Game saved = play.arena.game(1);
  for (int step = 0; step < 100; ++step) play.step();

  Play again(2);
  again.arena.start(0, 7);
  again.arena.restore(1, saved);
  for (int step = 0; step < 100; ++step) again.step();
  EXPECT_EQ(state_of(again.arena.board(1)), state_of(play.arena.board(1)));
  EXPECT_EQ(again.arena.board(1).rng.state(), play.arena.board(1).rng.state());
}

TEST(Arena, RefusesGamesThatWereNotBegunAndWrongSizes) {
  Play play(2);
  play.arena.start(0, 1);
  const std::vector<std::uint8_t> actions(2 * kSnakes, kUp);
  EXPECT_THROW(play.arena.step({.actions = actions, .rewards = play.rewards, .over = play.over}),
               Error);
  EXPECT_THROW(play.arena.start(2, 1), Error);
  play.rewards.pop_back();
  EXPECT_THROW(play.arena.step({.actions = actions, .rewards = play.rewards, .over = play.over}),
               Error);
}

}  // namespace
}  // namespace traffic::game
