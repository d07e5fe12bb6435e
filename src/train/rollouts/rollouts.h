/// The class Rollouts owns the simulations of a training. It collects experience in them and runs
/// evaluations, each with its own range of seeds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rollouts/baseline.h"
#include "rollouts/outcomes.h"
#include "rollouts/selection_runs.h"
#include "rollouts/traffic_collector.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/config/config.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/core/random.h"
#include "traffic/core/time_split.h"
#include "traffic/rollout/traffic/traffic_pool.h"
#include "traffic/train/rollouts/rollout_batch.h"

namespace traffic::train {

/// Factor on the demand of the training episodes of an iteration, according to
/// episodes.demand_curriculum; 1 if the curriculum is empty.
/// @param iteration from 0
double demand_scale_at(const config::Config& config, std::int64_t iteration);

/// Collects the episodes of a training with simulations. save_to() and all functions that are not
/// const are collective.
class Rollouts {
 public:
  /// Starts the simulations. Reads the scenarios' baselines from disk or measures them.
  Rollouts(const config::Config& config, const comm::MpiSession& session,
           comm::Communicator& communicator, TimeSplit& time_split);

  /// Gain of training episodes over no control, in %. The episodes are compared with the mean of
  /// their scenarios' baselines, since no uncontrolled episode has the same seeds. If episodes are
  /// pieces of scenarios, the gain is computed from the rewards.
  [[nodiscard]] double sampled_gain(const std::vector<EpisodeOutcome>& outcomes) const;
  /// Largest number of conflicts in any scenario.
  [[nodiscard]] std::int64_t conflicts() const { return reward_.conflicts(); }
  /// The environments of this rank.
  [[nodiscard]] std::span<const int> my_envs() const { return pool_.my_envs(); }
  /// Number of environments of all ranks.
  [[nodiscard]] int num_envs() const { return pool_.num_envs(); }
  /// Counters summed over the simulations of all nodes, as of the last call to count().
  [[nodiscard]] const rollout::PoolCounters& counters() const { return counters_; }
  /// Updates counters(). A successful collect() calls it.
  void count();

  struct CollectInput {
    std::int64_t iteration = 0;
    Actors actors;
    bool imitates = false;  ///< whether the policy of the vehicles imitates scripted controllers
  };
  /// Collects the experience of one iteration.
  /// @return nothing if the collection was given up because a stop was requested; after that, only
  ///   close() may be called
  std::optional<RolloutBatch> collect(const CollectInput& in);

  /// Runs of the selection seeds, on which the best policy of a training is chosen.
  [[nodiscard]] SelectionRuns& selection() { return selection_; }
  /// Runs of the seeds of the final comparison with the script. They are disjoint from the
  /// selection seeds.
  [[nodiscard]] SelectionRuns& final_comparison() { return final_; }

  /// Saves the state of the simulations between fragments of episodes. If the training collects
  /// whole episodes, there is nothing to save.
  void save_to(checkpoint::Snapshot& snapshot) const;
  void restore_from(const checkpoint::Snapshot& snapshot);
  void close() { pool_.close(); }

 private:
  [[nodiscard]] bool whole_episodes() const {
    return config_.episodes.rollout_fragment_length == 0;
  }
  [[nodiscard]] std::int64_t episodes_per_iteration() const;
  [[nodiscard]] std::int64_t steps_per_env() const;
  [[nodiscard]] rollout::EpisodeSeed training_traffic(std::uint64_t major,
                                                      std::int64_t minor) const;
  [[nodiscard]] bool are_pieces() const { return config_.episodes.length_s > 0.0; }
  void draw_piece(rollout::EpisodeSeed& traffic, Rng rng) const;
  [[nodiscard]] double gain_of_pieces(const std::vector<EpisodeOutcome>& outcomes) const;
  [[nodiscard]] bool is_given_up(const Collected& collected);
  Collected collect_episodes(std::int64_t iteration, const Behaviour& behaviour);
  Collected collect_fragments(const Behaviour& behaviour);
  void pack_steps(const Decider& decider, const std::vector<Trajectory>& trajectories,
                  RolloutBatch& batch);

  config::Config config_;
  std::vector<config::ScenarioShare> mix_;
  comm::Communicator& communicator_;
  rollout::TrafficPool pool_;
  TrafficCollector collector_;
  scene::Objective objective_;
  std::vector<Baseline> baselines_;  ///< one for each scenario
  Reward reward_;
  Cost cost_;
  SelectionRuns selection_;
  SelectionRuns final_;
  std::string fault_point_;
  rollout::PoolCounters counters_;
};

}  // namespace traffic::train
