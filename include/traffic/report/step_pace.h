/// Measures the duration of steps, to estimate the remaining time.
#pragma once

#include <cstdint>
#include <deque>

namespace traffic::report {

/// Mean duration of a step over the last 64 measurements, each of at least a second. A stall (a
/// suspended machine, a hanging disk, a pause in a debugger) counts for at most ten times the
/// median duration of a step, so that it does not spoil the estimate.
class StepPace {
 public:
  void add(std::int64_t steps, double seconds);
  /// 0 before the first step.
  [[nodiscard]] double seconds_per_step() const;

 private:
  struct Piece {
    double steps = 0.0;
    double seconds = 0.0;
  };
  std::deque<Piece> pieces_;  ///< the newest last
};

}  // namespace traffic::report
