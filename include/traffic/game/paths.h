/// Computes the lengths of the ways from all heads to all beans, and the number of cells that each
/// snake can reach. Ways lead through cells without segments.
///
/// Scripts and learners use the same paths, so they are computed once per step for all six snakes.
#pragma once

#include <array>
#include <cstdint>

#include "traffic/game/board.h"

namespace traffic::game {

/// The cells of tails count as free, because a tail moves on unless its snake eats.
struct Paths {
  static constexpr std::uint8_t kNone = 255;  ///< number of steps if there is no way
  static constexpr int kLanes = 8;            ///< entries per move: kBeans, rounded up to the size
                                              ///< of a vector of the processor

  template <typename T>
  using PerMove = std::array<std::array<T, kDirections>, kSnakes>;

  /// [snake][direction][bean] number of steps to Board::beans[bean] if the first step is in this
  /// direction.
  alignas(64) PerMove<std::array<std::uint8_t, kLanes>> steps{};
  /// [snake][direction] number of cells that can be reached after a step in this direction,
  /// including the cell of that step; 0 if that cell is taken.
  PerMove<std::uint8_t> room{};

  /// Number of steps of the shortest way from a snake to a bean; kNone if there is no way.
  [[nodiscard]] std::uint8_t to_bean(int snake, int bean) const {
    const auto& of_snake = steps[static_cast<std::size_t>(snake)];
    const auto lane = static_cast<std::size_t>(bean);
    std::uint8_t fewest = kNone;
    for (const auto& of_direction : of_snake) {
      fewest = of_direction[lane] < fewest ? of_direction[lane] : fewest;
    }
    return fewest;
  }
};

/// Finds the paths by breadth-first searches that run from all beans at once. The game must not be
/// over.
Paths find_paths(const Board& board);

}  // namespace traffic::game
