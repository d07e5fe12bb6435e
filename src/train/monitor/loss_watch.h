/// Detects steps whose loss is far above the recent level.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "traffic/train/monitor/watched_loss.h"

namespace traffic::train {

/// A loss far above the level of the steps before.
struct LossSpike {
  double loss = 0.0;
  double level = 0.0;  ///< median loss of the steps before
};

/// All ranks must add the same losses; they then find the same spikes.
class LossWatch {
 public:
  /// @param loss the loss of one step. A new stage begins a new level. Losses that are not finite
  ///   are ignored.
  /// @return the spike at its first step; directly following spikes are counted but not returned
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
