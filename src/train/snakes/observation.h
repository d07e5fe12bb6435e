/// What a learner sees of a game.
#pragma once

#include <cstdint>
#include <span>

#include "snakes/settings.h"
#include "snakes/turn.h"
#include "traffic/game/opponents.h"

namespace traffic::train::snakes {

/// What of it.
struct Sight {
  bool surroundings = true;  ///< beside the features
  bool turned = true;        ///< as the board lies before the snake

  static Sight of(const Snakes& settings) {
    return {.surroundings = settings.surroundings, .turned = settings.turned};
  }
  /// Numbers of a snake: features; surroundings; whether it heads along the longer side.
  [[nodiscard]] std::int64_t width() const;
};

/// Of the team's snakes, one after the other.
/// @param out [kTeamSnakes, width]
/// @param turns [kTeamSnakes] in which directions are as they see them
void write_observations(const game::View& view, Sight sight, std::span<float> out,
                        std::span<Turn> turns);

}  // namespace traffic::train::snakes
