/// How far it is from every head to every bean, and how much room there is, past all segments.
///
/// What script and learner look at is the same, so it is found once a step for all six snakes.
#pragma once

#include <array>
#include <cstdint>

#include "traffic/game/board.h"

namespace traffic::game {

/// Tails count as free, for they leave, unless their snake eats.
struct Paths {
  static constexpr std::uint8_t kNone = 255;  ///< steps: there is no way
  static constexpr int kLanes = 8;            ///< kBeans and what fills a vector

  template <typename T>
  using PerMove = std::array<std::array<T, kDirections>, kSnakes>;

  /// Of a snake that sets out in a direction, to the bean at this place of Board::beans.
  alignas(64) PerMove<std::array<std::uint8_t, kLanes>> steps{};
  /// Cells that can be reached after a step in this direction, that one included; 0: it is taken.
  PerMove<std::uint8_t> room{};

  /// The shorter way of setting out. @return kNone if there is no way
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

/// Of a game that is not over. Breadth-first searches from all beans at once, a bit a cell.
Paths find_paths(const Board& board);

}  // namespace traffic::game
