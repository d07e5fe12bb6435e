/// Collects whole episodes or fragments of episodes in simulations of traffic. It uses the
/// collector that all kinds of environments share (rollout/pool/collector.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/decides.h"
#include "rollouts/actors.h"
#include "rollouts/cost.h"
#include "rollouts/episode_state.h"
#include "rollouts/experience.h"
#include "rollouts/reward.h"
#include "traffic/config/config.h"
#include "traffic/core/time_split.h"
#include "traffic/rollout/pool/collector.h"
#include "traffic/rollout/traffic/traffic_pool.h"

namespace traffic::train {

/// An episode to run.
struct EpisodeRequest {
  std::int64_t order = 0;  ///< index among the requests of all ranks
  rollout::EpisodeSeed traffic;
  /// Scripted controller of the episode; used if there are no agents and no experts.
  std::string controller = "none";
};

/// Says which agents or scripts control a set of episodes, how steps are rewarded, and whether the
/// experience is kept.
struct Behaviour {
  Actors actors{};  ///< the agents that decide
  const Reward* reward = nullptr;
  const Cost* cost = nullptr;  ///< must be given if `reward` is
  /// If it is set, decisions are drawn at random with this seed, and the experience is kept for
  /// learning. If it is not set, no experience is kept, and `decides` says how decisions are made,
  /// as in traffic_eval.
  std::optional<std::uint64_t> sampling_seed{};
  Decides decides = Decides::kGreedy;
  /// Scripted controllers (experts) that the policy imitates, one for each scenario; empty if there
  /// is no imitation. They command the vehicles instead of the policy, and their commands are kept
  /// as the decisions.
  std::vector<std::string> experts{};
  /// Share of the episodes with experts in which the policy commands the vehicles. The commands
  /// that the expert would give in each state are then kept as the decisions (DAgger).
  double advised_share = 0.0;
  /// run() and run_fragments() call it between the answers of simulations. Once it returns true,
  /// they return early, with Collected::given_up set. If it is empty, they never return early.
  rollout::Collector::Stop gives_up{};
  /// Where the saved traffic of each scenario is. It is set if episodes are pieces of scenarios,
  /// which begin in saved traffic; otherwise it is empty.
  std::vector<rollout::PieceStore> stores{};
};

/// The result of running episodes.
struct Collected {
  bool given_up = false;  ///< the results are incomplete; simulations are in the middle of episodes
  std::vector<EpisodeOutcome> outcomes;  ///< outcomes of the episodes that ended
  std::vector<Trajectory> trajectories;  ///< empty if no experience of vehicles is kept
};

/// Runs the episodes of this rank in its environments. Not collective.
class TrafficCollector {
 public:
  /// @return the traffic of an episode of an environment, both counted from 0
  using TrafficOf = std::function<rollout::EpisodeSeed(int env, std::int64_t episode)>;

  TrafficCollector(const config::Config& config, rollout::TrafficPool& pool, TimeSplit& time_split);

  /// Runs episodes with the scripted controllers of the requests, "none" by default.
  /// @param on_period called for each period with the index of its episode in `requests`
  /// @param store where the episodes save their traffic; by default they do not save it
  /// @return outcomes in the order of the requests
  std::vector<EpisodeOutcome> run_uncontrolled(
      const std::vector<EpisodeRequest>& requests,
      const std::function<void(std::size_t, const rollout::Period&)>& on_period = {},
      const rollout::PieceStore& store = {});

  /// Runs whole episodes, or pieces of scenarios if the behaviour has stores.
  /// @param on_period as for run_uncontrolled()
  /// @return outcomes and trajectories in the order of the requests
  Collected run(const std::vector<EpisodeRequest>& requests, const Behaviour& behaviour,
                const std::function<void(std::size_t, const rollout::Period&)>& on_period = {});

  /// Collects fragments of episodes: every environment continues where the last call left it and
  /// contributes `steps` control steps. Trajectory::order is environment * steps + number
  /// of steps that the environment contributed before this trajectory.
  Collected run_fragments(std::int64_t steps, const Behaviour& behaviour,
                          const TrafficOf& traffic_of);

  /// State of the unfinished episode of an environment of this rank.
  [[nodiscard]] const EpisodeState& fragment_state(int env) const { return fragments_.at(env); }
  /// Sets this state, for example from a checkpoint, so that run_fragments() continues from it.
  void restore_fragment(int env, EpisodeState state);

  /// Number of simulation steps of this rank's episodes so far.
  [[nodiscard]] std::int64_t env_steps() const { return env_steps_; }

 private:
  config::Config config_;
  rollout::TrafficPool& pool_;
  rollout::Collector collector_;
  std::map<int, EpisodeState> fragments_;
  /// Whether the simulations still run the episodes in `fragments_`. If not, run_fragments() has to
  /// replay these episodes first.
  bool simulations_run_fragments_ = false;
  std::int64_t env_steps_ = 0;
};

}  // namespace traffic::train
