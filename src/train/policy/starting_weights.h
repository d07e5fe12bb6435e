/// Checks the weights that the training of a controller starts from.
#pragma once

#include "traffic/config/config.h"

namespace traffic::train {

/// Rejects the training of a new controller whose encoder and world model would be frozen with
/// random weights, unless run.allow_random_perception is set.
/// @param config configuration of a training that begins a new run
/// @throws ConfigError
void check_starting_weights(const config::Config& config);

}  // namespace traffic::train
