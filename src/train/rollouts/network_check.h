/// Checks the scenarios before a training simulates them.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Rank 0 studies the files of the scenarios and logs its findings. If the user left env.max_time_s
/// and env.cv_types at their defaults, all ranks then set them to what the files say. Collective.
/// @throws ConfigError on all ranks if a training could learn nothing in the scenarios
/// @throws DataError on all ranks if a file cannot be read
void look_at_networks_together(config::Config& config, comm::Communicator& communicator);

}  // namespace traffic::train
