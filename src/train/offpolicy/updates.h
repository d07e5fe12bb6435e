/// Decides when a learner makes its updates, and collects the metrics of the updates. All trainings
/// that learn from a replay use it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "offpolicy/learner.h"
#include "offpolicy/rank_replay.h"
#include "traffic/core/time_split.h"
#include "traffic/report/metrics.h"
#include "traffic/train/monitor/watched_loss.h"

namespace traffic::train::offpolicy {

/// The updates of one training.
class Updates {
 public:
  struct Parts {
    const OffPolicy& settings;
    comm::Communicator& communicator;
    TimeSplit& time_split;
    Learner& learner;
    RankReplay& replay;
  };
  /// @param parts its references must outlive this object
  explicit Updates(const Parts& parts) : parts_(parts) {}

  /// The amount of new experience, and the progress of the training; the same on all ranks.
  struct Lived {
    std::int64_t env_steps = 0;    ///< environment steps of all ranks since the last call
    std::int64_t transitions = 0;  ///< minimum number of transitions that a rank holds
    double progress = 0.0;         ///< share of the training that is over
  };
  /// Collective. Makes the updates that are due: one for every offpolicy.update_interval
  /// environment steps of a rank. The first update comes when every rank holds
  /// offpolicy.learning_starts transitions.
  void after(const Lived& lived);

  /// Number of updates in the whole training.
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// The value of offpolicy.learning_rate after scaling with the number of ranks and decay with the
  /// progress.
  [[nodiscard]] double learning_rate(double progress) const {
    return parts_.settings.learning_rate * learning_rate_factor(progress);
  }
  /// Collective. Returns the metrics as means over the updates since the last call, such as
  /// "train/loss". Empty if there was no update.
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
  std::int64_t summed_ = 0;  ///< number of updates in the sums
};

/// The loss among the metrics of take_figures(); nothing if there was no update.
std::optional<WatchedLoss> watched_loss(const report::NamedValues& figures);

/// Share of random actions (epsilon) after this number of environment steps of all ranks.
double epsilon_after(const OffPolicy& settings, std::int64_t env_steps);

}  // namespace traffic::train::offpolicy
