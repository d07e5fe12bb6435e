/// Observations of a game for the learner.
#pragma once

#include <cstdint>
#include <span>

#include "snakes/settings.h"
#include "snakes/turn.h"
#include "traffic/game/opponents.h"

namespace traffic::train::snakes {

/// Contents of an observation.
struct Sight {
  bool surroundings = true;  ///< it contains the surroundings (game/surroundings.h)
  bool turned = true;        ///< it shows the board turned so that the snake heads up (turn.h)

  static Sight of(const Snakes& settings) {
    return {.surroundings = settings.surroundings, .turned = settings.turned};
  }
  /// Size of a snake's observation: features; surroundings; if turned, 1 or 0 for whether the snake
  /// heads along the longer side of the board.
  [[nodiscard]] std::int64_t width() const;
};

/// Writes the observations of the three snakes of the view's team.
/// @param out [kTeamSnakes, width]
/// @param turns [kTeamSnakes] output: the turns in which these snakes see the board
void write_observations(const game::View& view, Sight sight, std::span<float> out,
                        std::span<Turn> turns);

}  // namespace traffic::train::snakes
