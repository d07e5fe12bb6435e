/// Writes the metrics, log lines and episodes.csv of a training of controllers in simulations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rollouts/final_comparison.h"
#include "rollouts/rollouts.h"
#include "traffic/report/metrics.h"
#include "traffic/train/agents/agent.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// Selects the metrics of an iteration that the progress bar shows, and gives them short names.
report::NamedValues shown_of(const report::NamedValues& metrics);

/// All ranks call the functions of this class, but only the reporting rank (rank 0) writes.
class ControllerLog {
 public:
  /// Both arguments must outlive this object.
  ControllerLog(Run& run, const Rollouts& rollouts) : run_(run), rollouts_(rollouts) {}

  /// Opens episodes.csv. In a new run, first writes the episodes without control to it.
  /// @param iteration iteration of the checkpoint that is resumed; 0 for a new run
  void start(std::int64_t iteration, const std::vector<EpisodeOutcome>& uncontrolled);
  /// Writes the episodes of an iteration to episodes.csv.
  /// @param after the progress after the iteration
  /// @return metrics of these episodes
  report::NamedValues iterated(const RolloutBatch& batch, const Progress& after);
  /// Writes an evaluation of the policy to the log, and its episodes to episodes.csv.
  void evaluated(std::int64_t iteration, const Assessed& assessed);

 private:
  [[nodiscard]] const config::Config& config() const { return run_.config(); }
  /// Logs an error if many episodes were lost with their simulations.
  void watch_losses(const rollout::PoolCounters& counters);

  Run& run_;
  const Rollouts& rollouts_;
  std::optional<EpisodeLog> episodes_;  ///< episodes.csv; set only on the reporting rank
  rollout::PoolCounters watched_;       ///< counters when watch_losses() last computed a share
  bool idle_ = false;                   ///< whether the last evaluated policy commanded no vehicle
};

}  // namespace traffic::train
