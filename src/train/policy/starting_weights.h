/// What a controller's training starts from.
#pragma once

#include "traffic/config/config.h"

namespace traffic::train {

/// Refuses to train a new controller on a frozen encoder and world model of random weights, unless
/// run.allow_random_perception asks for it.
/// @param config of a phase that has no checkpoint to go on from
/// @throws ConfigError that says what to do
void check_starting_weights(const config::Config& config);

}  // namespace traffic::train
