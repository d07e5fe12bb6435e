/// Checks the files of the scenarios before a training simulates them.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Rank 0 reads the files of the scenarios and logs its findings. If the user left env.max_time_s
/// and env.cv_types at their defaults, rank 0 derives them from the files, and all ranks use these
/// values. Collective.
/// @throws ConfigError on all ranks if a training could learn nothing in the scenarios
/// @throws DataError on all ranks if a file cannot be read
void look_at_networks_together(config::Config& config, comm::Communicator& communicator);

}  // namespace traffic::train
