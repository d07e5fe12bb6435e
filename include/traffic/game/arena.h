/// Arena runs many games of one process at the same time; all games lie in one block of memory.
///
///     void play(Arena& arena, int steps, const std::function<TeamActions(const View&)>& decide) {
///       const auto size = static_cast<std::size_t>(arena.size());
///       std::vector<std::uint8_t> actions(size * kSnakes);
///       std::vector<float> rewards(size * kSnakes);
///       std::vector<std::uint8_t> over(size);
///       std::uint64_t seed = 1;
///       for (int i = 0; i < arena.size(); ++i) arena.start(i, seed++);
///       for (int step = 0; step < steps; ++step) {
///         for (int i = 0; i < arena.size(); ++i) {
///           const auto of_game = actions.begin() + i * kSnakes;
///           std::ranges::copy(decide(arena.view(i, 0)), of_game);
///           std::ranges::copy(arena.choose(i, 1, Opponent::kBfs), of_game + kTeamSnakes);
///         }
///         arena.step({.actions = actions, .rewards = rewards, .over = over});
///         for (int i = 0; i < arena.size(); ++i) {
///           if (over[static_cast<std::size_t>(i)] != 0) arena.start(i, seed++);
///         }
///       }
///     }
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/game/match.h"

namespace traffic::game {

/// A game and the random generators of both teams. A saved Game continues with bit-identical
/// results.
struct Game {
  Board board{};
  PlayerRngs rngs = player_rngs(0);
};

/// A fixed number of games. Not thread-safe. Only the constructor allocates memory.
class Arena {
 public:
  explicit Arena(int num_games);

  [[nodiscard]] int size() const { return static_cast<int>(games_.size()); }
  [[nodiscard]] const Board& board(int game) const { return games_[index(game)].board; }

  /// Begins a new game, the same one that play_game() plays with this seed.
  void start(int game, std::uint64_t seed);
  /// The game as a team sees it, valid until the next start(), step() or restore() of this game.
  [[nodiscard]] View view(int game, int team);
  /// The actions of a scripted team.
  [[nodiscard]] TeamActions choose(int game, int team, Opponent opponent);

  /// Arguments of step(), for all games and snakes.
  struct Step {
    std::span<const std::uint8_t> actions;  ///< [size, kSnakes] each a Direction
    std::span<float> rewards;               ///< [size, kSnakes]
    std::span<std::uint8_t> over;           ///< [size] 1: the game ended with this step
    std::span<std::uint8_t> died = {};      ///< [size] one bit for each snake that died; optional
  };
  /// Makes a step in all games.
  /// @throws Error if sizes differ, an action is out of range, or a game was over already
  void step(const Step& step);

  [[nodiscard]] const Game& game(int game) const { return games_[index(game)]; }
  void restore(int game, const Game& state);

 private:
  [[nodiscard]] std::size_t index(int game) const;

  std::vector<Game> games_;
  std::vector<Paths> paths_;         ///< [games] paths on the current boards
  std::vector<std::uint8_t> known_;  ///< [games] whether paths_ is up to date
};

}  // namespace traffic::game
