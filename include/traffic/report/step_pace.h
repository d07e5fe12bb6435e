/// How long a step takes, for the time that is left.
#pragma once

#include <cstdint>
#include <deque>

namespace traffic::report {

/// The mean over the last minutes, in which no stall (a suspended machine, a disk that hung, a
/// pause in a debugger) counts for more than ten usual times of its steps. A rate of the last
/// seconds alone says years after a stall.
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
