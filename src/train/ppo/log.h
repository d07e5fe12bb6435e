/// What the trainings of the controller tell: episodes.csv, figures, lines of the log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ppo/constraint.h"
#include "ppo/learner.h"
#include "rollouts/handover.h"
#include "rollouts/rollouts.h"
#include "traffic/report/metrics.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// What an iteration did.
struct Iterated {
  std::int64_t iteration = 0;  ///< from 1
  const RolloutBatch& batch;
  const UpdateResult& update;
  std::int64_t total_steps = 0;  ///< control steps of all iterations
};

/// Of the figures of an iteration, what the bar shows.
report::NamedValues shown_of(const report::NamedValues& figures);

/// Called on all ranks; writes on the reporter. Keeps references to all that it is given.
class ControllerLog {
 public:
  struct Sources {
    const Rollouts& rollouts;
    const Constraint* constraint;  ///< null without one
  };
  ControllerLog(Run& run, const Sources& sources);

  /// @param iteration that a checkpoint goes on from; 0 for a new run
  void start(std::int64_t iteration, const std::vector<EpisodeOutcome>& uncontrolled);
  /// @return the figures of an iteration
  report::NamedValues iterated(const Iterated& done);
  void evaluated(std::int64_t iteration, const Assessed& assessed);

 private:
  [[nodiscard]] const config::Config& config() const { return run_.config(); }
  void watch_losses(const rollout::PoolCounters& counters);

  Run& run_;
  Sources sources_;
  std::optional<EpisodeLog> episodes_;  ///< of the reporter
  rollout::PoolCounters watched_;       ///< when losses were looked at the last time
  bool idle_ = false;                   ///< the policy commanded nobody when it was last evaluated
};

}  // namespace traffic::train
