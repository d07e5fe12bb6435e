/// Features of the game as a snake sees it, relative to its own head.
///
/// All in about -1 .. 1. Offsets are the shorter way round the torus, so that a board shifted in
/// any direction looks the same. A snake's features, in this order:
///
/// - for each direction (up, down, left, right), of the cell there: a segment that stays; a tail;
///   an enemy's head beside it; a mate's head beside it; a bean; nearness (1 / steps) of the
///   nearest bean by the way past all segments; nearness of the nearest that this snake reaches
///   before all others; room there as a share of twice the own length, at most 1;
/// - offsets (rows, columns) of five beans, by the length of the way; zeros where there are fewer;
/// - offset and length of the two mates, then of the three enemies, each by distance;
/// - own length, share of the game that is over, lead of the team, and 1 if the own length is that
///   of the start: then dying costs nothing.
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

/// Writes the features of the team's three snakes, one after the other. Allocates nothing.
void write_features(const View& view, std::span<float, kTeamSnakes * kNumFeatures> features);

}  // namespace traffic::game
