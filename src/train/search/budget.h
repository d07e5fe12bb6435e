/// Keeps the real time that a search may take, and estimates how many more episodes fit into it.
#pragma once

#include <cstdint>

#include "traffic/comm/communicator.h"
#include "traffic/core/clock.h"

namespace traffic::train {

/// The real time of one search. The clock starts with the construction of this object. Shares are
/// fractions of the time that the search may take. Collective functions return the same value on
/// all ranks, so that all ranks agree which episodes still fit.
class SearchBudget {
 public:
  /// @param minutes time for the whole search; 0 means that the time is not limited
  SearchBudget(double minutes, comm::Communicator& communicator);

  /// Whether the clock limits the search.
  [[nodiscard]] bool is_timed() const { return seconds_ > 0.0; }
  /// Seconds since the start, the maximum over the ranks. Collective.
  [[nodiscard]] double elapsed_s() const;
  /// Real time that is left on this rank. Not collective.
  [[nodiscard]] double left_s() const { return seconds_ - clock_.seconds(); }
  /// Seconds of real time in a share of the budget.
  [[nodiscard]] double seconds_of(double share) const { return share * seconds_; }
  /// Whether this share of the time has passed on this rank. Not collective.
  [[nodiscard]] bool has_passed(double share) const;
  /// Share of the time that has passed. Collective.
  [[nodiscard]] double spent_share() const { return elapsed_s() / seconds_; }

  /// Sets the real time per episode, measured while all simulations run in parallel. A later
  /// measurement replaces an earlier one, because a machine may become busy.
  void measure(std::int64_t episodes, double seconds);
  [[nodiscard]] double episode_s() const { return episode_s_; }
  /// Number of episodes that end before this share of the time has passed. Collective.
  [[nodiscard]] std::int64_t fitting(double share) const;

 private:
  double seconds_;
  comm::Communicator& communicator_;
  Stopwatch clock_;
  double episode_s_ = 0.0;
};

}  // namespace traffic::train
