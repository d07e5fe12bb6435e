/// One episode of an evaluation, in a process of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {

/// @throws ConfigError, CheckpointError if there is no such controller
void check_controller(const std::string& name);

/// Once in a process: SUMO and torch are set up for this episode alone.
/// @param progress called after every step with how much of the episode is done, 0..1 (0 where it
/// has no end)
EvaluatedEpisode run_episode(const EvaluationPlan& plan, std::size_t controller, std::uint64_t seed,
                             const std::function<void(double)>& progress);

}  // namespace traffic::train
