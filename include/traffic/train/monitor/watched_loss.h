#pragma once

#include <cstdint>

namespace traffic::train {

/// A loss that the loop watches for spikes.
struct WatchedLoss {
  double value = 0.0;
  std::int64_t stage = 0;  ///< losses of different stages are different functions and are not
                           ///< compared
};

}  // namespace traffic::train
