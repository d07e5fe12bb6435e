/// Checks whether a new training of a controller starts from a trained encoder and world model.
#pragma once

#include "traffic/config/config.h"

namespace traffic::train {

/// Throws if the encoder and the world model, which the training does not change, would keep random
/// weights. The setting run.allow_random_perception permits this.
/// @param config configuration of a training that begins a new run
/// @throws ConfigError
void check_starting_weights(const config::Config& config);

}  // namespace traffic::train
