/// Chooses the number of threads of a rank that read recorded traffic.
#pragma once

#include <cstdint>

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Replaces data.num_workers = 0 by a number of threads that suits the device of the rank. The
/// samples and their order do not depend on this number.
config::Data with_reading_threads(config::Data data, const comm::Communicator& communicator);

}  // namespace traffic::train
