/// Advice on metrics that are out of range: one line each, naming the configuration key to change.
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
  /// @return wait/data, wait/other_ranks and wait/small_steps (reduction and optimiser without
  ///   waiting); empty if no time has passed. With simulations also wait/simulations (the rank
  ///   waits for simulations) and wait/ranks (simulations wait for the rank: all of the time in
  ///   which it learns, and half of the time in which it computes decisions)
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
    int out = 0;        ///< times in a row that the metric was out of range
    int within = 0;     ///< times in a row that the metric was within range
    bool said = false;  ///< whether it has been reported
  };
  std::map<std::string, State> states_;
};

}  // namespace traffic::train
