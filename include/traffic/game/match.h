/// Games of one team against another, on the same starts from both sides.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "traffic/game/opponents.h"

namespace traffic::game {

/// Decides for a team. Chance is to come from the generator, so that a game can be repeated.
using Player = std::function<TeamActions(const View& view, Rng& rng)>;
Player player_of(Opponent opponent);

/// A generator for each team.
using PlayerRngs = std::array<Rng, kTeams>;
PlayerRngs player_rngs(std::uint64_t seed);

/// Called with the first board and after every step.
using Observer = std::function<void(const Board& board)>;

/// Plays to the end. All chance comes from the seed.
/// @param players of team 0 and of team 1
/// @return the last board
Board play_game(std::uint64_t seed, const std::array<Player, kTeams>& players,
                const Observer& observer = {});

/// One start played twice, with sides changed. Lengths at the end less those at the start, of all
/// snakes of a team.
struct Pair {
  std::array<int, 2> own{};     ///< as team 0, as team 1
  std::array<int, 2> others{};  ///< of the other side in these games

  /// 1 for a game won, a half for a draw: of the two games the mean.
  [[nodiscard]] double score() const;
};

/// @param seeds of the starts: seed, seed + 1, ...
std::vector<Pair> play_match(const Player& own, const Player& other, int pairs, std::uint64_t seed);

}  // namespace traffic::game
