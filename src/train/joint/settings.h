/// Conditions that a training of vehicles and lights together puts on its configuration.
#pragma once

#include "traffic/config/config.h"

namespace traffic::train::joint {

/// @throws ConfigError if the configuration does not fit such a training
void check_settings(const config::Config& config);

}  // namespace traffic::train::joint
