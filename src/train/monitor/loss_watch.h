/// Detects steps of a training whose loss is far above the loss of recent steps.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "traffic/train/monitor/watched_loss.h"

namespace traffic::train {

/// A loss that is far above the loss of the previous steps.
struct LossSpike {
  double loss = 0.0;
  double level = 0.0;  ///< median loss of the previous steps
};

/// Finds the spikes among the losses that add() gets. If all ranks add the same losses, they find
/// the same spikes.
class LossWatch {
 public:
  /// Adds the loss of one step. Ignores losses that are not finite. When the stage of the training
  /// changes, earlier losses no longer count.
  /// @return the spike, if the loss is one. If several steps in a row are spikes, only the first
  ///   one is returned.
  std::optional<LossSpike> add(const WatchedLoss& loss);
  /// Number of steps that were spikes.
  [[nodiscard]] std::int64_t num_found() const { return num_found_; }

 private:
  void begin(std::int64_t stage);

  std::deque<double> before_;  ///< recent losses that were not spikes
  std::int64_t stage_ = 0;
  int in_a_row_ = 0;
  std::int64_t num_found_ = 0;
};

}  // namespace traffic::train
