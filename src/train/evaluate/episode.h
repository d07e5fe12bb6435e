/// Runs one episode of an evaluation. EpisodeProcesses calls run_episode() in a new process for
/// each episode.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {

/// Checks that a controller's scripts and checkpoints exist.
/// @throws ConfigError, CheckpointError
void check_controller(const std::string& name);

/// @param share share of the episode that is done
/// @param so_far metrics up to now
using EpisodeProgress = std::function<void(double share, const EvaluatedEpisode& so_far)>;

/// Runs an episode. Call it once per process, because it sets up SUMO and torch for this episode.
/// @param controller index into the plan's controllers
/// @param progress called after every step; the share goes from 0 to 1, or is always 0 if the
///   episode has no fixed end
EvaluatedEpisode run_episode(const EvaluationPlan& plan, std::size_t controller, std::uint64_t seed,
                             const EpisodeProgress& progress);

}  // namespace traffic::train
