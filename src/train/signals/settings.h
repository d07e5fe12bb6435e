/// Checks and presets of the training of traffic lights, and the random draws for its episodes.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/signal_policy.h"
#include "traffic/config/config.h"
#include "traffic/config/trainings.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::train::signals {

SignalKind kind_of(const config::Lights& lights);

std::vector<config::PresetRow> presets();
/// @throws ConfigError
void check_settings(const config::Config& config);

/// Traffic and demand of a training episode; by run.seed, the iteration and the place in it.
rollout::EpisodeSpec training_episode(const config::Config& config, std::int64_t iteration,
                                      std::int64_t place);
/// Of an evaluation while training: the scenarios in turn, demands from the least to the greatest.
rollout::EpisodeSpec selection_episode(const config::Config& config, std::int64_t place);

}  // namespace traffic::train::signals
