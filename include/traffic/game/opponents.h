/// Scripted teams, each stronger than the one before (a test compares them).
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
  kGreedy,   ///< likewise, one bean a snake in their order, around what is in the way
  kTorus,    ///< beans shared out to whom they are nearest on the torus, around what is in the way
  kBfs,      ///< beans shared out by the length of the way past all segments; shuns other heads
  kEvasive,  ///< likewise; leaves beans to enemies who are first, keeps out of dead ends, and runs
             ///< into others' heads or not by what either would lose
};
inline constexpr int kNumOpponents = 6;

std::string_view name_of(Opponent opponent);
/// By name or level. @return nothing if it is neither
std::optional<Opponent> opponent_named(std::string_view name);
/// For messages: "random, chase, ...".
std::string opponent_names();

/// Of the three snakes of a team, a Direction each.
using TeamActions = std::array<std::uint8_t, kTeamSnakes>;

/// What a team sees when it is to move.
struct View {
  const Board& board;
  const Paths& paths;  ///< of this board
  int team = 0;
};

/// @param rng drawn from by kRandom only
TeamActions choose_actions(Opponent opponent, const View& view, Rng& rng);

}  // namespace traffic::game
