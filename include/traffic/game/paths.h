/// How far it is from every head to every bean, and how much room there is, past all segments.
///
/// Scripts and learners use the same paths, so they are computed once a step for all six snakes.
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

  /// Steps of a snake that first moves in a direction, to the bean at this index of Board::beans.
  alignas(64) PerMove<std::array<std::uint8_t, kLanes>> steps{};
  /// Number of cells that can be reached after a step in this direction, including the cell of that
  /// step; 0 if that cell is taken.
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

/// Breadth-first searches from all beans at once, with one bit for each cell. The game must not be
/// over.
Paths find_paths(const Board& board);

}  // namespace traffic::game
