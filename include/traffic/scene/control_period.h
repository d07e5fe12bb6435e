/// When a trained controller decides and which frames it sees: the same in training, where the
/// simulation runs a period on command, and in evaluation, where it asks after every step.
#pragma once

#include <cstdint>

namespace traffic::scene {

/// Times are sums of step lengths and carry rounding errors.
inline constexpr double kTimeTolerance_s = 1e-6;

/// Steps of a simulation between two decisions.
class ControlPeriod {
 public:
  ControlPeriod() = default;
  /// @throws ConfigError if the period is not a whole number of steps
  ControlPeriod(double period_s, double step_s);

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  /// Whether the state after this step of the period, 1 .. steps(), is seen: every second counted
  /// back from the last one, which is seen always.
  [[nodiscard]] bool frame_due(std::int64_t step) const {
    return (steps_ - step) % steps_per_frame_ == 0;
  }

 private:
  std::int64_t steps_ = 1;
  std::int64_t steps_per_frame_ = 1;
};

}  // namespace traffic::scene
