/// StepPace measures the mean duration of a step. The progress bar estimates the remaining time
/// with it.
#pragma once

#include <cstdint>
#include <deque>

namespace traffic::report {

/// It averages over the last 64 measurements, each of which covers at least a second. In a stall (a
/// suspended machine, a hanging disk, a pause in a debugger) a step counts with at most ten times
/// the median duration, so that the stall does not spoil the estimate.
class StepPace {
 public:
  void add(std::int64_t steps, double seconds);
  /// Mean duration; 0 before the first step.
  [[nodiscard]] double seconds_per_step() const;

 private:
  /// One measurement.
  struct Piece {
    double steps = 0.0;    ///< number of steps done
    double seconds = 0.0;  ///< time that they took
  };
  std::deque<Piece> pieces_;  ///< the newest last
};

}  // namespace traffic::report
