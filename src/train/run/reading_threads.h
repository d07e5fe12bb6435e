/// How many threads of a rank read recorded traffic.
#pragma once

#include <cstdint>

#include "traffic/comm/communicator.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// The data settings with a number of reading threads: 0 becomes what the device of the rank can
/// keep up with. What is read, and its order, are the same with any number.
config::Data with_reading_threads(config::Data data, const comm::Communicator& communicator);

}  // namespace traffic::train
