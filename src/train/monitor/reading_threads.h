/// Number of threads per rank that read recorded traffic.
#pragma once

#include <cstdint>

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Replaces data.num_workers = 0 by a number that keeps up with the device of the rank. The samples
/// and their order do not depend on the number.
config::Data with_reading_threads(config::Data data, const comm::Communicator& communicator);

}  // namespace traffic::train
