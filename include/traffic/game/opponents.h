/// Scripted teams in order of strength, which a test compares.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "traffic/game/board.h"
#include "traffic/game/paths.h"

namespace traffic::game {

/// The number is the level.
enum class Opponent : std::uint8_t {
  kRandom,   ///< any of the four directions
  kChase,    ///< to the bean that is nearest on the flat board, whatever is in the way
  kGreedy,   ///< to the nearest bean as kChase, a bean for each snake, around obstacles
  kTorus,    ///< each bean goes to the nearest snake on the torus, around obstacles
  kBfs,      ///< beans shared out by the length of the way past all segments; shuns other heads
  kEvasive,  ///< as kBfs; leaves beans to enemies that are nearer, avoids dead ends, and decides
             ///< about collisions of heads by the losses of both snakes
};
inline constexpr int kNumOpponents = 6;

std::string_view name_of(Opponent opponent);
/// By name or level. @return nothing if it is neither
std::optional<Opponent> opponent_named(std::string_view name);
/// For messages: "random, chase, ...".
std::string opponent_names();

/// A Direction for each of the three snakes of a team.
using TeamActions = std::array<std::uint8_t, kTeamSnakes>;

/// The game as a team sees it before its move.
struct View {
  const Board& board;
  const Paths& paths;  ///< of this board
  int team = 0;
};

/// @param rng drawn from by kRandom only
TeamActions choose_actions(Opponent opponent, const View& view, Rng& rng);

}  // namespace traffic::game
