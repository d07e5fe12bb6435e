/// Finds steps whose loss is far above what it has been.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "traffic/train/run/watched_loss.h"

namespace traffic::train {

/// A loss far above the level that it had been at.
struct LossSpike {
  double loss = 0.0;
  double level = 0.0;  ///< the median of the steps before
};

/// Fed on every rank with the same numbers, it comes to the same findings there.
class LossWatch {
 public:
  /// @param loss of one step; those of another stage, or not finite, are not compared
  /// @return the spike at its first step; the steps that follow it are counted without a word
  std::optional<LossSpike> add(const WatchedLoss& loss);
  /// Steps that were spikes.
  [[nodiscard]] std::int64_t num_found() const { return num_found_; }

 private:
  void begin(std::int64_t stage);

  std::deque<double> before_;  ///< losses that were no spikes
  std::int64_t stage_ = 0;
  int in_a_row_ = 0;
  std::int64_t num_found_ = 0;
};

}  // namespace traffic::train
