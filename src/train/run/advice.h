/// One line of advice for a figure that is out of range, naming the key that would change it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "traffic/core/time_split.h"
#include "traffic/report/metrics.h"

namespace traffic::train {

/// Shares of the time since the last call, from a split that goes on.
class WaitShares {
 public:
  /// @param other_ranks_s that this rank has waited for others so far
  /// @param simulates whether the training has simulations
  /// @return wait/data, wait/other_ranks, wait/small_steps (reduction and optimiser themselves);
  /// with simulations wait/simulations (ranks for them) and wait/ranks (they for ranks: all while a
  /// rank learns, half of them while it infers); nothing before any time has passed
  report::NamedValues take(const TimeSplit& split, double other_ranks_s, bool simulates);

 private:
  std::map<std::string, double> before_s_;
  double total_before_s_ = 0.0;
  double other_ranks_before_s_ = 0.0;
};

/// Looks at the figures of each line of metrics. A figure must be out of range several times in a
/// row; then it is said once, and again only after it had ceased for long: one that goes to and fro
/// about its limit is no news.
class Adviser {
 public:
  /// @return what there is to say now
  std::vector<std::string> look(const report::NamedValues& figures);

 private:
  struct State {
    int out = 0;     ///< times in a row that the figure was out of range
    int within = 0;  ///< times in a row that it was not
    bool said = false;
  };
  std::map<std::string, State> states_;
};

}  // namespace traffic::train
