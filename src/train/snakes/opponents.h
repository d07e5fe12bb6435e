/// Draws the opponent of a game: a script by a schedule or from a list, or an earlier copy of the
/// policy (past self).
#pragma once

#include <cstdint>
#include <optional>

#include "snakes/settings.h"
#include "traffic/core/random.h"
#include "traffic/game/opponents.h"

namespace traffic::train::snakes {

/// The level of the scripted opponent (game::Opponent) at some progress of the training.
/// @param strategy linear, exponential or curriculum
/// @param progress share of the training that is over
int scheduled_level(const std::string& strategy, double progress);

/// Progress of the training; the same on all ranks.
struct TrainingProgress {
  std::int64_t episode = 0;  ///< finished episodes, summed over all ranks
  std::int64_t max_episodes = 1;
  bool has_past_selves = false;
};

/// Draws an opponent as [game] says.
/// @return a script; nothing if the opponent is a past self
std::optional<game::Opponent> draw_opponent(const Snakes& settings,
                                            const TrainingProgress& progress, Rng& rng);

}  // namespace traffic::train::snakes
