/// One episode of an evaluation, in a process of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {

/// Checks that a controller's scripts and checkpoints exist.
/// @throws ConfigError, CheckpointError
void check_controller(const std::string& name);

using EpisodeProgress = std::function<void(double share, const EvaluatedEpisode& so_far)>;

/// Runs an episode. Call it once per process, because it sets up SUMO and torch for this episode.
/// @param controller index into the plan's controllers
/// @param progress called after every step with the share of the episode that is done, 0..1
///     (always 0 if the episode has no fixed end), and with the metrics so far
EvaluatedEpisode run_episode(const EvaluationPlan& plan, std::size_t controller, std::uint64_t seed,
                             const EpisodeProgress& progress);

}  // namespace traffic::train
