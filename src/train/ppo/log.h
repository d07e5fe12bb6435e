/// What phases 2 and 3 tell while they train: episodes.csv, metrics, the bar, lines of the log.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ppo/constraint.h"
#include "ppo/learner.h"
#include "rollouts/rollouts.h"
#include "traffic/report/progress_bar.h"
#include "traffic/report/time_split.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// What an iteration did.
struct Iterated {
  std::int64_t iteration = 0;  ///< from 1
  const RolloutBatch& batch;
  const UpdateResult& update;
  std::int64_t total_steps = 0;  ///< control steps of all iterations
  double seconds = 0;
};

/// Called on all ranks; writes on the reporter. Keeps references to all that it is given.
class ControllerLog {
 public:
  struct Sources {
    const Rollouts& rollouts;
    const Constraint* constraint;  ///< null in phase 2
    const report::TimeSplit& time_split;
  };
  ControllerLog(Run& run, const Sources& sources);

  /// @param iteration that a checkpoint goes on from; 0 for a new run
  void start(std::int64_t iteration, const std::vector<EpisodeOutcome>& uncontrolled);
  void iterated(const Iterated& done);
  void evaluated(std::int64_t iteration, const GreedyEvaluation& evaluation);
  void end() { progress_.reset(); }

 private:
  [[nodiscard]] const config::Config& config() const { return run_.config(); }
  void show(const Iterated& done, const report::NamedValues& rollout);

  Run& run_;
  Sources sources_;
  std::unique_ptr<report::ProgressBar> progress_;  ///< of the reporter, as is the next
  std::optional<EpisodeLog> episodes_;
};

}  // namespace traffic::train
