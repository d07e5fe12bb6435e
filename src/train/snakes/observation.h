/// What a learner sees of a game.
#pragma once

#include <cstdint>
#include <span>

#include "snakes/settings.h"
#include "traffic/game/opponents.h"

namespace traffic::train::snakes {

/// Numbers that a snake sees: its features, with game.surroundings those, too.
std::int64_t obs_dim(const Snakes& settings);

/// Of the team's snakes, one after the other.
/// @param out [kTeamSnakes, obs_dim]; its size says whether surroundings are wanted
void write_observations(const game::View& view, std::span<float> out);

}  // namespace traffic::train::snakes
