#pragma once

#include <cstdint>

namespace traffic::train {

/// A loss that is watched for spikes.
struct WatchedLoss {
  double value = 0.0;
  std::int64_t stage = 0;  ///< losses of other stages are other functions
};

}  // namespace traffic::train
