/// Where phase 2 gets its experience and its evaluations from: simulations, baseline, seeds.
#pragma once

#include <cstdint>
#include <vector>

#include "phase2_baseline.h"
#include "phase2_collector.h"
#include "phase2_report.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/config/config.h"
#include "traffic/report/time_split.h"
#include "traffic/rollout/env_pool.h"

namespace traffic::train {

/// What all ranks lived through in an iteration; the experience is this rank's share of it.
struct RolloutBatch {
  Experience experience;
  std::int64_t states = 0;               ///< of all ranks
  std::int64_t env_steps = 0;            ///< simulation steps of all ranks
  std::vector<EpisodeOutcome> outcomes;  ///< episodes of all ranks that ended
};

/// Everything is collective unless it is const.
class Rollouts {
 public:
  /// Starts the simulations and measures the baseline, unless it is known.
  Rollouts(const config::Config& config, const comm::MpiSession& session,
           comm::Communicator& communicator, report::TimeSplit& time_split);

  [[nodiscard]] const Baseline& baseline() const { return baseline_; }
  [[nodiscard]] std::int64_t conflicts() const { return curve_.conflicts(); }
  [[nodiscard]] rollout::PoolCounters counters() const { return pool_.counters(); }

  RolloutBatch collect(std::int64_t iteration, Perception& perception, Policy& policy);

  /// The uncontrolled runs of the selection seeds, run when first asked for.
  const std::vector<EpisodeOutcome>& uncontrolled();
  GreedyEvaluation evaluate(Perception& perception, Policy& policy);

  /// Where fragments stand; nothing with whole episodes.
  void save_to(checkpoint::Snapshot& snapshot) const;
  void restore_from(const checkpoint::Snapshot& snapshot);
  void close() { pool_.close(); }

 private:
  [[nodiscard]] bool whole_episodes() const { return config_.ppo.rollout_fragment_length == 0; }
  [[nodiscard]] std::int64_t episodes_per_iteration() const;
  [[nodiscard]] std::int64_t steps_per_env() const;
  Collected collect_episodes(std::int64_t iteration, const Driver& driver);
  Collected collect_fragments(const Driver& driver);

  config::Config config_;
  comm::Communicator& communicator_;
  rollout::EnvPool pool_;
  Collector collector_;
  Baseline baseline_;
  rl::BaselineCurve curve_;
  Reward reward_;
  std::vector<EpisodeOutcome> uncontrolled_;  ///< of the selection seeds
};

}  // namespace traffic::train
