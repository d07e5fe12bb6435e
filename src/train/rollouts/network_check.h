/// Checks the scenarios before a training simulates them.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Rank 0 studies the files of the scenarios and logs its findings. Settings that the user left at
/// their defaults and that the files answer (env.max_time_s, env.cv_types) are then made on all
/// ranks. Collective.
/// @throws ConfigError on all ranks if a training could learn nothing in the scenarios
/// @throws DataError on all ranks if a file cannot be read
void look_at_networks_together(config::Config& config, comm::Communicator& communicator);

}  // namespace traffic::train
