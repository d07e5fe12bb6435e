/// More of what a snake sees, for learners that have the time: who is nearer to which bean, and the
/// cells around its head.
///
/// All in -1 .. 1. A snake's surroundings, in this order:
///
/// - for each of five beans, by the length of the own way, as in features.h: nearness (1 / steps,
///   by the way past all segments) to this snake, to the nearest mate, to the nearest enemy; zeros
///   where there are fewer;
/// - for each cell at most kWindowRadius rows and columns away, by rows, the head's own left out: 1
///   where a segment stays, a quarter where a tail is; 1 where an enemy's head is, -1 a mate's.
#pragma once

#include <span>

#include "traffic/game/opponents.h"

namespace traffic::game {

inline constexpr int kWindowRadius = 3;
inline constexpr int kWindowCells = (2 * kWindowRadius + 1) * (2 * kWindowRadius + 1) - 1;
inline constexpr int kNumSurroundings = 3 * kBeans + 2 * kWindowCells;

/// Of one snake of the view's team. Allocates nothing.
void write_surroundings(const View& view, int snake, std::span<float, kNumSurroundings> out);

}  // namespace traffic::game
