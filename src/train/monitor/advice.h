/// Advice on metrics that are out of range: one line each, naming the configuration key to change.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "traffic/core/time_split.h"
#include "traffic/report/metrics.h"

namespace traffic::train {

/// Shares of the time since the last call, from a running time split.
class WaitShares {
 public:
  /// @param other_ranks_s seconds that this rank has waited for other ranks so far
  /// @param simulates whether the training has simulations
  /// @return wait/data, wait/other_ranks, wait/small_steps (reduction and optimiser without
  ///   waiting). With simulations also wait/simulations (ranks wait for simulations) and wait/ranks
  ///   (simulations wait for ranks: all the time that a rank learns, and half of the time that it
  ///   infers). Empty if no time has passed
  report::NamedValues take(const TimeSplit& split, double other_ranks_s, bool simulates);

 private:
  std::map<std::string, double> before_s_;
  double total_before_s_ = 0.0;
  double other_ranks_before_s_ = 0.0;
};

/// Checks each line of metrics. A metric must be out of range several times in a row. It is then
/// reported once, and again only after it was within range for long, so that a metric that
/// oscillates about its limit is not reported repeatedly.
class Adviser {
 public:
  /// @return the lines of advice due now
  std::vector<std::string> look(const report::NamedValues& figures);

 private:
  struct State {
    int out = 0;     ///< times in a row that the metric was out of range
    int within = 0;  ///< times in a row that the metric was within range
    bool said = false;
  };
  std::map<std::string, State> states_;
};

}  // namespace traffic::train
