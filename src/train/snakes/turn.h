/// The board as it lies before a snake: turned so that it heads up, and mirrored where its nearest
/// bean is on its left. What looks alike is then the same to a learner, in whatever direction the
/// snake heads: an eighth of the states.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "traffic/game/board.h"
#include "traffic/game/features.h"

namespace traffic::train::snakes {

/// Which of the eight ways a board can be turned and mirrored.
class Turn {
 public:
  Turn() = default;  ///< the board as it is
  Turn(game::Direction heading, bool mirrored)
      : index_(static_cast<std::uint8_t>(2 * heading + (mirrored ? 1 : 0))) {}

  /// Where on the board a snake goes that goes there as it sees it.
  [[nodiscard]] std::uint8_t on_board(std::uint8_t seen) const;
  /// The reverse.
  [[nodiscard]] std::uint8_t seen(std::uint8_t on_board) const;
  [[nodiscard]] std::size_t index() const { return index_; }

 private:
  std::uint8_t index_ = 0;
};
inline constexpr std::size_t kTurns = 8;

/// The turn of a snake that heads there.
/// @param features of the snake (game/features.h)
Turn turn_of(game::Direction heading, std::span<const float> features);

/// Numbers of a snake as they are after a turn. A cell ahead counts for as much in each.
/// @param numbers features, or features and surroundings, as the board lies
void write_turned(Turn turn, std::span<const float> numbers, std::span<float> out);

}  // namespace traffic::train::snakes
