/// Checks the files of the scenarios before a training simulates them.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Rank 0 reads the files of the scenarios and logs its findings. If the user left env.max_time_s
/// or env.cv_types at its default, and only one other value makes sense, rank 0 sets this value on
/// all ranks (sim::set_the_obvious()). Collective.
/// @throws ConfigError on all ranks if a training could learn nothing in the scenarios
/// @throws DataError on all ranks if a file cannot be read
void look_at_networks_together(config::Config& config, comm::Communicator& communicator);

}  // namespace traffic::train
