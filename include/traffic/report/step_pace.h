/// Measures how long a step takes, to estimate the time that is left.
#pragma once

#include <cstdint>
#include <deque>

namespace traffic::report {

/// The mean over the last minutes. A stall (a suspended machine, a hanging disk, a pause in a
/// debugger) counts for at most ten times the usual duration of its steps: otherwise the estimate
/// after a stall would be years.
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
