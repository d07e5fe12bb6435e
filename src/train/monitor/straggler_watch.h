/// Detects a rank that is so slow that all other ranks wait for it.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace traffic::train {

/// A rank whose own work takes much longer than the work of the other ranks.
struct Straggler {
  int rank = 0;
  double step_s = 0.0;         ///< own work per step in seconds, mean over the last steps
  double others_step_s = 0.0;  ///< median over the other ranks
  int num_steps = 0;           ///< number of these steps
  [[nodiscard]] double factor() const { return step_s / others_step_s; }
};

/// Finds the straggler among the times that add() gets. If all ranks add the same times, they find
/// the same straggler.
class StragglerWatch {
 public:
  /// @param busy_s [ranks] seconds of one step in which each rank did not wait for others
  /// @return the straggler when it is found; if it remains slow, again after many steps
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
