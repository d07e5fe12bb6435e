/// Where phase 2 gets its experience and its evaluations from: simulations, baseline, seeds.
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

namespace traffic::train {

/// What all ranks lived through in an iteration; the experience is this rank's share of it.
struct RolloutBatch {
  Experience experience;
  std::int64_t states = 0;               ///< of all ranks
  std::int64_t env_steps = 0;            ///< simulation steps of all ranks
  std::int64_t episodes = 0;             ///< places of episodes, or of fragments, of all ranks
  std::vector<EpisodeOutcome> outcomes;  ///< episodes of all ranks that ended
};

/// The factor on the demand of training episodes by episodes.demand_curriculum; 1 without one.
/// @param iteration from 0
double demand_scale_at(const config::Config& config, std::int64_t iteration);

/// Everything is collective unless it is const.
class Rollouts {
 public:
  /// Starts the simulations and measures the scenarios' baselines, unless they are known.
  Rollouts(const config::Config& config, const comm::MpiSession& session,
           comm::Communicator& communicator, TimeSplit& time_split);

  /// Where lights act as well: who sets them from now on.
  void set_lights(LightSetter& lights) { collector_.set_lights(lights); }

  /// What these episodes have gained over no control, by their scenarios' means, in %: of the
  /// objective, or of what gets through in pieces of scenarios.
  [[nodiscard]] double sampled_gain(const std::vector<EpisodeOutcome>& outcomes) const;
  /// The most that a scenario has.
  [[nodiscard]] std::int64_t conflicts() const { return reward_.conflicts(); }
  /// Those of this rank.
  [[nodiscard]] std::span<const int> my_envs() const { return pool_.my_envs(); }
  [[nodiscard]] int num_envs() const { return pool_.num_envs(); }
  /// Of the simulations of all nodes, as last counted.
  [[nodiscard]] const rollout::PoolCounters& counters() const { return counters_; }
  /// collect() does it at its end.
  void count();

  struct CollectInput {
    std::int64_t iteration = 0;
    const Decider& decider;
    bool imitates = false;  ///< scripted controllers drive, to be imitated
  };
  /// @return nothing if it was given up because a stop is requested; then only close() is left
  std::optional<RolloutBatch> collect(const CollectInput& in);

  /// By which the best of a training is chosen.
  [[nodiscard]] SelectionRuns& selection() { return selection_; }
  /// By which that is compared with the script in the end; on seeds that it was not chosen on.
  [[nodiscard]] SelectionRuns& handover() { return handover_; }

  /// Where fragments stand; nothing with whole episodes.
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

  config::Config config_;
  std::vector<config::ScenarioShare> mix_;
  comm::Communicator& communicator_;
  rollout::TrafficPool pool_;
  TrafficCollector collector_;
  scene::Objective objective_;
  std::vector<Baseline> baselines_;  ///< of the scenarios
  Reward reward_;
  Cost cost_;
  SelectionRuns selection_;
  SelectionRuns handover_;
  std::string fault_point_;
  rollout::PoolCounters counters_;
};

}  // namespace traffic::train
