/// How the entropy coefficient changes in the course of training.
#pragma once

#include <cstdint>

namespace traffic::rl {

/// From `start` at progress 0 to `end` at progress 1 in a straight line; constant where they are
/// equal. A function of progress alone, so nothing to save.
struct LinearSchedule {
  double start = 0.0;
  double end = 0.0;

  static LinearSchedule constant(double value) { return {value, value}; }
  /// @param progress share of training done; outside 0 .. 1 the nearer end holds
  [[nodiscard]] double at(double progress) const;
};

}  // namespace traffic::rl
