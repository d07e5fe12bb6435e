/// Many games of a rank in one piece of memory, stepped together.
///
///     Arena arena(64);
///     for (int i = 0; i < arena.size(); ++i) arena.start(i, seed++);
///     while (wanted) {
///       for (int i = 0; i < arena.size(); ++i) {
///         write_features(arena.view(i, 0), features_of(i));        // what is to be learned
///         put(actions, i, 1, arena.choose(i, 1, Opponent::kBfs));  // whom it plays against
///       }
///       put(actions, decide(features));
///       arena.step({.actions = actions, .rewards = rewards, .over = over});
///       for (int i = 0; i < arena.size(); ++i) if (over[i]) arena.start(i, seed++);
///     }
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/game/match.h"

namespace traffic::game {

/// A game with the generators of whoever plays it: what is to be saved, so that it goes on to the
/// bit.
struct Game {
  Board board{};
  PlayerRngs rngs = player_rngs(0);
};

/// Not thread-safe. Only the constructor allocates.
class Arena {
 public:
  explicit Arena(int num_games);

  [[nodiscard]] int size() const { return static_cast<int>(games_.size()); }
  [[nodiscard]] const Board& board(int game) const { return games_[index(game)].board; }

  /// Begins a game, whatever became of the one before: the same one as play_game() with this seed.
  void start(int game, std::uint64_t seed);
  /// What a team sees; until the next start(), step() or restore() of this game.
  [[nodiscard]] View view(int game, int team);
  /// What a scripted team does.
  [[nodiscard]] TeamActions choose(int game, int team, Opponent opponent);

  struct Step {
    std::span<const std::uint8_t> actions;  ///< [size, kSnakes] Direction
    std::span<float> rewards;               ///< [size, kSnakes]
    std::span<std::uint8_t> over;           ///< [size] 1: the game ended with this step
    std::span<std::uint8_t> died = {};      ///< [size] a bit a snake; empty: not wanted
  };
  /// All games by a step.
  /// @throws Error if sizes differ, an action is none, or a game was over before
  void step(const Step& step);

  [[nodiscard]] const Game& game(int game) const { return games_[index(game)]; }
  void restore(int game, const Game& state);

 private:
  [[nodiscard]] std::size_t index(int game) const;

  std::vector<Game> games_;
  std::vector<Paths> paths_;         ///< of each game,
  std::vector<std::uint8_t> known_;  ///< if they have been found since its last step
};

}  // namespace traffic::game
