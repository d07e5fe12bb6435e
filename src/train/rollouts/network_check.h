/// What is to be known of the scenarios before a training simulates them.
#pragma once

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Rank 0 looks at the files and logs what it finds; what is obvious is set on all ranks.
/// Collective.
/// @throws ConfigError, DataError on all ranks if nothing could be learned there
void look_at_networks_together(config::Config& config, comm::Communicator& communicator);

}  // namespace traffic::train
