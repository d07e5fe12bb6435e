/// The speed of a training.
#pragma once

#include <cstdint>

namespace traffic::train {

/// Counts the time of steps only, not the time between them (evaluating, saving).
class Throughput {
 public:
  /// @param first_is_warm_up leave the first step out of the means unless it is the only one
  explicit Throughput(bool first_is_warm_up) : first_is_warm_up_(first_is_warm_up) {}

  void add(double seconds, std::int64_t items);

  [[nodiscard]] double last_step_s() const { return last_step_s_; }
  /// Rate over about the last second; over the last step if that took longer.
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
