/// Whom a game is played against: the scripts by a schedule, or a past self.
#pragma once

#include <cstdint>
#include <optional>

#include "snakes/settings.h"
#include "traffic/core/random.h"
#include "traffic/game/opponents.h"

namespace traffic::train::snakes {

/// Level of the script at a share of the training that is over.
/// @param strategy linear, exponential or curriculum
int scheduled_level(const std::string& strategy, double progress);

/// How far the training is; the same on all ranks.
struct TrainingProgress {
  std::int64_t episode = 0;
  std::int64_t max_episodes = 1;
  bool has_past_selves = false;
};
/// @return nothing: a past self
std::optional<game::Opponent> draw_opponent(const Snakes& settings,
                                            const TrainingProgress& progress, Rng& rng);

}  // namespace traffic::train::snakes
