/// What a training in simulations reports: episodes.csv, metrics and lines of the log.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agents/agent.h"
#include "rollouts/final_comparison.h"
#include "rollouts/rollouts.h"
#include "traffic/report/metrics.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// The metrics of an iteration that the progress bar shows, under short names.
report::NamedValues shown_of(const report::NamedValues& metrics);

/// Called on all ranks; writes on the one that reports.
class ControllerLog {
 public:
  /// Both outlive this.
  ControllerLog(Run& run, const Rollouts& rollouts) : run_(run), rollouts_(rollouts) {}

  /// @param iteration that a checkpoint goes on from; 0 for a new run
  void start(std::int64_t iteration, const std::vector<EpisodeOutcome>& uncontrolled);
  /// @param after the progress after the iteration
  /// @return the metrics of the episodes of an iteration
  report::NamedValues iterated(const RolloutBatch& batch, const Progress& after);
  void evaluated(std::int64_t iteration, const Assessed& assessed);

 private:
  [[nodiscard]] const config::Config& config() const { return run_.config(); }
  void watch_losses(const rollout::PoolCounters& counters);

  Run& run_;
  const Rollouts& rollouts_;
  std::optional<EpisodeLog> episodes_;  ///< on the rank that reports
  rollout::PoolCounters watched_;       ///< when lost episodes were last looked at
  bool idle_ = false;                   ///< the last evaluated policy commanded no vehicle
};

}  // namespace traffic::train
