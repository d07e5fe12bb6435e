#pragma once

#include <cstdint>

namespace traffic::train {

/// A training loss that the common loop of all trainings (run/loop.h) checks for sudden rises.
struct WatchedLoss {
  double value = 0.0;
  /// Number of the loss function; losses of different stages are not compared.
  std::int64_t stage = 0;
};

}  // namespace traffic::train
