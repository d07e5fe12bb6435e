/// Writes what a snake observes, as numbers for the network.
#pragma once

#include <cstdint>
#include <span>

#include "snakes/settings.h"
#include "snakes/turn.h"
#include "traffic/game/opponents.h"

namespace traffic::train::snakes {

/// Which numbers an observation contains.
struct Sight {
  bool surroundings = true;  ///< whether it contains the surroundings (game/surroundings.h)
  bool turned = true;        ///< whether the board is turned so that the snake heads up (turn.h)

  static Sight of(const Snakes& settings) {
    return {.surroundings = settings.surroundings, .turned = settings.turned};
  }
  /// Number of numbers in a snake's observation: the features, then the surroundings. If the board
  /// is turned, one more number is 1 if the snake heads along the longer side of the board, else 0.
  [[nodiscard]] std::int64_t width() const;
};

/// Writes the observations of the three snakes of the view's team.
/// @param out [kTeamSnakes, width]
/// @param turns [kTeamSnakes] output: how the board is turned for each of these snakes
void write_observations(const game::View& view, Sight sight, std::span<float> out,
                        std::span<Turn> turns);

}  // namespace traffic::train::snakes
