/// Plays games of one team against another. In a match the teams play every start twice and change
/// sides in between.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "traffic/game/opponents.h"

namespace traffic::game {

/// Chooses the actions of a team. It must take all random numbers from `rng`, so that a game can be
/// repeated.
using Player = std::function<TeamActions(const View& view, Rng& rng)>;
/// The player of a scripted team.
Player player_of(Opponent opponent);

/// A random generator for each team.
using PlayerRngs = std::array<Rng, kTeams>;
/// The generators of a game with this seed.
PlayerRngs player_rngs(std::uint64_t seed);

/// Called with the first board and after every step.
using Observer = std::function<void(const Board& board)>;

/// Plays a whole game. The seed determines all random numbers.
/// @param players the players of team 0 and of team 1
/// @return the last board
Board play_game(std::uint64_t seed, const std::array<Player, kTeams>& players,
                const Observer& observer = {});

/// Two games from the same start, in which the players change sides. The results are the final
/// length of a team minus its length at the start, in segments.
struct Pair {
  std::array<int, 2> own{};     ///< result of the first player as team 0, then as team 1
  std::array<int, 2> others{};  ///< results of the second player in the same games

  /// Mean score of the first player over the two games: 1 for a win, 0.5 for a draw, 0 for a loss.
  [[nodiscard]] double score() const;
};

/// Plays `pairs` pairs of games.
/// @param seed the pairs start from seed, seed + 1, ...
std::vector<Pair> play_match(const Player& own, const Player& other, int pairs, std::uint64_t seed);

}  // namespace traffic::game
