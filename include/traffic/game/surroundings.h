/// Additional features of a snake, which take longer to compute and to learn from: which snake is
/// nearest to each bean, and the cells around the snake's head.
///
/// All features lie in -1 .. 1. The surroundings of a snake, in this order:
///
/// - For each of five beans, the one nearest to this snake first: 1 / steps of the shortest way to
///   the bean from this snake, from its nearest teammate and from its nearest enemy. Zeros if there
///   is no way or no such bean.
/// - For each cell at most kWindowRadius rows and columns away from the head, by rows and without
///   the head's own cell, two features. The first is 1 for a segment that stays in the next step,
///   0.25 for a tail, otherwise 0. The second is 1 for an enemy's head, -1 for a teammate's head,
///   otherwise 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "traffic/game/opponents.h"

namespace traffic::game {

inline constexpr int kWindowRadius = 3;
inline constexpr int kWindowCells = (2 * kWindowRadius + 1) * (2 * kWindowRadius + 1) - 1;
inline constexpr int kNumRaces = 3 * kBeans;  ///< number of features of the beans
inline constexpr int kNumSurroundings = kNumRaces + 2 * kWindowCells;

/// Index among the window's cells of the cell at this offset (rows, columns) from the head.
constexpr std::size_t place_in_window(int rows, int columns) {
  constexpr int kSide = 2 * kWindowRadius + 1;
  const int cell = (rows + kWindowRadius) * kSide + columns + kWindowRadius;
  return static_cast<std::size_t>(cell > kSide * kSide / 2 ? cell - 1 : cell);
}

/// Computes the surroundings of the snakes of a team. Allocates nothing.
class Surroundings {
 public:
  explicit Surroundings(const View& view);
  /// @param snake number of a snake of the view's team
  void write(int snake, std::span<float, kNumSurroundings> out) const;

 private:
  void write_races(int snake, float* out) const;
  void write_window(int snake, float* out) const;

  const Board& board_;
  int team_;
  /// [snake][bean] steps of the shortest way; Paths::kNone if there is no way.
  std::array<std::array<std::uint8_t, kBeans>, kSnakes> steps_{};
  std::array<float, kCells> segments_{};  ///< first feature of each cell
  std::array<float, kCells> heads_{};     ///< second feature of each cell
};

}  // namespace traffic::game
