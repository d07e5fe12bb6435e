/// When a learner makes its updates, and what they come to: the same for all that it learns from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "offpolicy/learner.h"
#include "offpolicy/rank_replay.h"
#include "traffic/core/time_split.h"
#include "traffic/report/metrics.h"
#include "traffic/train/run/watched_loss.h"

namespace traffic::train::offpolicy {

class Updates {
 public:
  struct Parts {
    const OffPolicy& settings;
    comm::Communicator& communicator;
    TimeSplit& time_split;
    Learner& learner;
    RankReplay& replay;
  };
  /// Keeps references to all that it is given.
  explicit Updates(const Parts& parts) : parts_(parts) {}

  /// How far the training is; the same on all ranks.
  struct Lived {
    std::int64_t env_steps = 0;    ///< of all ranks, since the last call
    std::int64_t transitions = 0;  ///< that each rank can draw from, at least
    double progress = 0.0;         ///< share of the training that is over
  };
  /// Makes the updates that are due after what was lived through. Collective.
  void after(const Lived& lived);

  /// Of all so far.
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] double learning_rate(double progress) const {
    return parts_.settings.learning_rate * learning_rate_factor(progress);
  }
  /// Means over the updates since the last call and over all ranks, "train/loss". Collective.
  report::NamedValues take_figures();

  void save_to(checkpoint::Snapshot& snapshot) const;
  void restore_from(const checkpoint::Snapshot& snapshot);

 private:
  [[nodiscard]] double learning_rate_factor(double progress) const;
  void update(double learning_rate_factor);

  Parts parts_;
  std::int64_t count_ = 0;
  std::int64_t owed_steps_ = 0;  ///< environment steps of all ranks since the last update
  std::map<std::string, double> sums_;
  std::int64_t summed_ = 0;  ///< updates in the sums
};

/// The loss among what take_figures() gave; nothing where no update was due.
std::optional<WatchedLoss> watched_loss(const report::NamedValues& figures);

/// Share of random actions after some environment steps of all ranks.
double epsilon_after(const OffPolicy& settings, std::int64_t env_steps);

}  // namespace traffic::train::offpolicy
