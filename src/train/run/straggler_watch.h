/// Finds the rank that the others wait for.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace traffic::train {

/// A rank whose own work takes much longer than the others'.
struct Straggler {
  int rank = 0;
  double step_s = 0.0;         ///< of its own work, the mean of the steps looked at
  double others_step_s = 0.0;  ///< the median of the other ranks'
  int num_steps = 0;           ///< looked at
  [[nodiscard]] double factor() const { return step_s / others_step_s; }
};

/// Fed on every rank with the same numbers, it comes to the same findings there.
class StragglerWatch {
 public:
  /// @param busy_s [ranks] of one step: the time that a rank did not wait for others
  /// @return the straggler, when it is found, and again after many steps in which it stayed one
  std::optional<Straggler> add(std::span<const double> busy_s);
  [[nodiscard]] int num_found() const { return num_found_; }

 private:
  [[nodiscard]] std::optional<Straggler> look() const;

  std::vector<double> busy_s_;  ///< summed over the steps of the window
  int num_steps_ = 0;
  int named_ = -1;
  int windows_since_named_ = 0;
  int num_found_ = 0;
};

}  // namespace traffic::train
