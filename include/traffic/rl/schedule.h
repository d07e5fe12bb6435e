/// LinearSchedule, which changes a parameter, such as the entropy coefficient, linearly during
/// training.
#pragma once

#include <cstdint>

namespace traffic::rl {

/// Changes linearly from `start` at progress 0 to `end` at progress 1. The value depends on the
/// progress alone, so there is no state to save.
struct LinearSchedule {
  double start = 0.0;
  double end = 0.0;

  static LinearSchedule constant(double value) { return {value, value}; }
  /// @param progress share of the training that is done; values outside 0 .. 1 are clamped
  [[nodiscard]] double at(double progress) const;
};

}  // namespace traffic::rl
