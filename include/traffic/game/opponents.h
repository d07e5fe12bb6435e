/// Scripted teams, which choose their moves by fixed rules, in order of strength. A test checks the
/// order.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "traffic/game/board.h"
#include "traffic/game/paths.h"

namespace traffic::game {

/// The number of an enumerator is the level of the team, from weak to strong.
enum class Opponent : std::uint8_t {
  kRandom,   ///< each snake moves in a random direction
  kChase,    ///< each snake heads for its nearest bean, ignoring obstacles and that opposite
             ///< edges of the board are joined (a torus)
  kGreedy,   ///< as kChase, but each snake has a bean of its own and avoids segments
  kTorus,    ///< as kGreedy, but distances are measured on the torus
  kBfs,      ///< as kTorus, but by the lengths of ways around all segments (paths.h); avoids
             ///< cells beside other heads
  kEvasive,  ///< as kBfs, but prefers beans that no enemy reaches first, avoids dead ends, and
             ///< avoids collisions of heads unless the enemy would lose more segments
};
inline constexpr int kNumOpponents = 6;

/// Name in configurations and reports, e.g. "chase".
std::string_view name_of(Opponent opponent);
/// The opponent with this name or level, e.g. "bfs" or "4"; nothing if there is none.
std::optional<Opponent> opponent_named(std::string_view name);
/// All names, for messages: "random, chase, ...".
std::string opponent_names();

/// A Direction for each of the three snakes of a team.
using TeamActions = std::array<std::uint8_t, kTeamSnakes>;

/// The game as a team sees it before its move.
struct View {
  const Board& board;
  const Paths& paths;  ///< paths on this board
  int team = 0;
};

/// @param rng used by kRandom only
TeamActions choose_actions(Opponent opponent, const View& view, Rng& rng);

}  // namespace traffic::game
