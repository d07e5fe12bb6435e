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

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "traffic/game/opponents.h"

namespace traffic::game {

inline constexpr int kWindowRadius = 3;
inline constexpr int kWindowCells = (2 * kWindowRadius + 1) * (2 * kWindowRadius + 1) - 1;
inline constexpr int kNumRaces = 3 * kBeans;
inline constexpr int kNumSurroundings = kNumRaces + 2 * kWindowCells;

/// Which of the window's cells lies there, seen from the head.
constexpr std::size_t place_in_window(int rows, int columns) {
  constexpr int kSide = 2 * kWindowRadius + 1;
  const int cell = (rows + kWindowRadius) * kSide + columns + kWindowRadius;
  return static_cast<std::size_t>(cell > kSide * kSide / 2 ? cell - 1 : cell);
}

/// Writes the surroundings of the team's three snakes. Allocates nothing.
class Surroundings {
 public:
  explicit Surroundings(const View& view);
  /// @param snake of the view's team
  void write(int snake, std::span<float, kNumSurroundings> out) const;

 private:
  void write_races(int snake, float* out) const;
  void write_window(int snake, float* out) const;

  const Board& board_;
  int team_;
  std::array<std::array<std::uint8_t, kBeans>, kSnakes> steps_{};  ///< of a snake to a bean
  std::array<float, kCells> segments_{};
  std::array<float, kCells> heads_{};
};

}  // namespace traffic::game
