/// Measures the speed of a training in items (samples or simulation steps) per second.
#pragma once

#include <cstdint>

namespace traffic::train {

/// Counts only the duration of steps. It leaves out the time between steps, in which the training
/// evaluates and saves.
class Throughput {
 public:
  /// @param first_is_warm_up whether to leave the first step out of the means. If there is only one
  ///   step, it counts nevertheless
  explicit Throughput(bool first_is_warm_up) : first_is_warm_up_(first_is_warm_up) {}

  /// Adds a step with the number of items that it processed.
  void add(double seconds, std::int64_t items);

  [[nodiscard]] double last_step_s() const { return last_step_s_; }
  /// Rate over about the last second. If the last step took longer, the rate over this step.
  [[nodiscard]] double recent_items_per_s() const { return recent_; }
  [[nodiscard]] double mean_items_per_s() const;
  [[nodiscard]] double seconds() const { return seconds_; }
  /// Seconds from launch to the end of the first step; 0 before that.
  [[nodiscard]] double startup_s() const { return startup_s_; }

 private:
  bool first_is_warm_up_;
  double last_step_s_ = 0.0;
  double recent_ = 0.0;
  double seconds_ = 0.0;
  double items_ = 0.0;
  double first_items_per_s_ = 0.0;
  double startup_s_ = 0.0;
};

}  // namespace traffic::train
