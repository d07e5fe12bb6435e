/// Features of the game as a snake sees it, relative to its own head.
///
/// All features lie in about -1 .. 1. An offset (rows, columns) leads from the snake's head along
/// the shorter way round the torus, so a board shifted in any direction has the same features. Ways
/// to beans lead around all segments (paths.h). The nearness of a bean is 1 / steps of the way to
/// it, or 0 if there is no way. The features of a snake, in this order:
///
/// - For each direction (up, down, left, right), eight features of the next cell in this direction:
///   1. 1 if it has a segment that stays in the next step;
///   2. 1 if it has a tail, which moves on unless its snake eats;
///   3. 1 if an enemy's head is beside it;
///   4. 1 if a teammate's head is beside it;
///   5. 1 if it has a bean;
///   6. the nearness of the nearest bean, for a way that begins in this cell;
///   7. as feature 6, but only for beans that this snake can reach before all other snakes;
///   8. the number of cells that can be reached from this cell, divided by twice the snake's
///      length, but at most 1.
/// - Offsets of five beans, the one with the shortest way first; zeros if there are fewer beans.
/// - Offset and length of the two teammates, then of the three enemies, each group by distance.
/// - The snake's own length, the share of the game that is over, the lead of its team, and 1 if the
///   snake has its initial length, so that dying costs nothing.
#pragma once

#include <array>
#include <span>

#include "traffic/game/opponents.h"

namespace traffic::game {

inline constexpr int kFeaturesOfDirection = 8;
// Index of the first feature of each later group.
inline constexpr int kBeansAt = kDirections * kFeaturesOfDirection;
inline constexpr int kOthersAt = kBeansAt + 2 * kBeans;
inline constexpr int kOwnAt = kOthersAt + 3 * (kSnakes - 1);
inline constexpr int kNumFeatures = kOwnAt + 4;

/// Writes the features of the three snakes of the view's team, one after the other. Allocates
/// nothing.
void write_features(const View& view, std::span<float, kTeamSnakes * kNumFeatures> features);

}  // namespace traffic::game
