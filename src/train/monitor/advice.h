/// Gives advice on metrics of a training that are out of range. Each advice is a line for the log
/// that names the configuration key to change.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "traffic/core/time_split.h"
#include "traffic/report/metrics.h"

namespace traffic::train {

/// Computes the shares of time that a rank has spent waiting since the last call.
class WaitShares {
 public:
  /// @param split the time split of the training since its start
  /// @param other_ranks_s seconds that this rank has waited for other ranks so far
  /// @param simulates whether the training has simulations
  /// @return shares of the time since the last call; empty if no time has passed. wait/data and
  ///   wait/other_ranks are the shares in which the rank waits for data and for other ranks.
  ///   wait/small_steps is the share in which it reduces gradients and updates parameters. In a
  ///   training with simulations, wait/simulations is the share in which the rank waits for
  ///   simulations, and wait/ranks estimates the share in which simulations wait for the rank. This
  ///   is all of the time in which the rank learns, and half of the time in which it computes
  ///   decisions.
  report::NamedValues take(const TimeSplit& split, double other_ranks_s, bool simulates);

 private:
  std::map<std::string, double> before_s_;
  double total_before_s_ = 0.0;
  double other_ranks_before_s_ = 0.0;
};

/// Checks each line of metrics. If a metric is out of range several times in a row, it reports the
/// metric once. It reports the metric again only after it was within range for a long time.
/// Therefore, a metric that oscillates about its limit is not reported repeatedly.
class Adviser {
 public:
  /// Checks the metrics of a step or iteration.
  /// @return lines of advice for the log
  std::vector<std::string> look(const report::NamedValues& figures);

 private:
  struct State {
    int out = 0;        ///< times in a row that the metric was out of range
    int within = 0;     ///< times in a row that the metric was within range
    bool said = false;  ///< whether it has been reported
  };
  std::map<std::string, State> states_;
};

}  // namespace traffic::train
