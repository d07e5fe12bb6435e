/// ControlPeriod: how many steps of a simulation lie between two decisions of a trained controller,
/// and after which of these steps the controller gets a frame (an observation of the traffic).
/// Training and evaluation share these rules.
#pragma once

#include <cstdint>

namespace traffic::scene {

/// Tolerance of comparisons between times, which are sums of step lengths and carry rounding
/// errors.
inline constexpr double kTimeTolerance_s = 1e-6;

/// The time between two decisions, counted in steps.
class ControlPeriod {
 public:
  ControlPeriod() = default;
  /// @param period_s simulated time between two decisions
  /// @param step_s simulated time of a step
  /// @throws ConfigError if the period is not a whole number of steps
  ControlPeriod(double period_s, double step_s);

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  /// Whether the controller gets a frame of the state after a step of the period. It gets frames
  /// after the last step and 1 s, 2 s, ... before the end of that step.
  /// @param step 1 .. steps()
  [[nodiscard]] bool frame_due(std::int64_t step) const {
    return (steps_ - step) % steps_per_frame_ == 0;
  }

 private:
  std::int64_t steps_ = 1;
  std::int64_t steps_per_frame_ = 1;
};

}  // namespace traffic::scene
