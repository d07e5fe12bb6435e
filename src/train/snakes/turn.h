/// Turns and mirrors what a snake observes, so that the snake always heads up and its nearest bean
/// is never on its left. Boards that differ only by a turn or a mirroring then look the same to the
/// learner. It therefore has to learn only about an eighth of the states.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "traffic/game/board.h"
#include "traffic/game/features.h"

namespace traffic::train::snakes {

/// One of the eight ways in which a board can be turned and mirrored.
class Turn {
 public:
  Turn() = default;  ///< leaves the board as it is
  Turn(game::Direction heading, bool mirrored)
      : index_(static_cast<std::uint8_t>(2 * heading + (mirrored ? 1 : 0))) {}

  /// Converts a direction as the snake sees it to the direction on the board.
  [[nodiscard]] std::uint8_t on_board(std::uint8_t seen) const;
  /// Converts a direction on the board to the direction as the snake sees it.
  [[nodiscard]] std::uint8_t seen(std::uint8_t on_board) const;
  [[nodiscard]] std::size_t index() const { return index_; }

 private:
  std::uint8_t index_ = 0;
};
inline constexpr std::size_t kTurns = 8;

/// The turn of the board for a snake.
/// @param heading direction of the snake on the board
/// @param features features of the snake (game/features.h)
Turn turn_of(game::Direction heading, std::span<const float> features);

/// Converts what a snake observes to what it would observe on the turned board. The board is not
/// square, so offsets are rescaled: one cell has the same scaled offset in every turn.
/// @param numbers features, or features and surroundings, of the board without a turn
/// @param out destination for as many numbers
void write_turned(Turn turn, std::span<const float> numbers, std::span<float> out);

}  // namespace traffic::train::snakes
