/// Experience of the traffic, by the collector that every kind of environment goes through.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rollouts/actors.h"
#include "rollouts/cost.h"
#include "rollouts/episode_state.h"
#include "rollouts/experience.h"
#include "rollouts/reward.h"
#include "traffic/config/config.h"
#include "traffic/core/time_split.h"
#include "traffic/rollout/pool/collector.h"
#include "traffic/rollout/traffic/traffic_pool.h"
#include "traffic/train/policy/decides.h"

namespace traffic::train {

/// An episode to run.
struct EpisodeRequest {
  std::int64_t order = 0;  ///< place among the requests of all ranks
  rollout::EpisodeSeed traffic;
  std::string controller = "none";  ///< a scripted one, where nobody else decides
};

/// Who decides.
struct Behaviour {
  Actors actors{};  ///< if there are none: nobody decides, or the experts
  const Reward* reward = nullptr;
  const Cost* cost = nullptr;  ///< given where a reward is
  /// Decisions are drawn from it, and what happens is kept to be learned from. Without it nothing
  /// is kept, and decisions are as in traffic_eval:
  std::optional<std::uint64_t> sampling_seed{};
  Decides decides = Decides::kGreedy;
  /// Of each scenario: a scripted controller that drives in the policy's place, and whose commands
  /// are kept as its decisions.
  std::vector<std::string> experts{};
  /// Share of those episodes that the policy drives nevertheless, while the expert says in each
  /// state what it would do.
  double advised_share = 0.0;
  /// Called between answers; once it returns true, the collector gives the episodes up.
  rollout::Collector::Stop gives_up{};
  /// Of each scenario, where episodes are pieces.
  std::vector<rollout::PieceStore> stores{};
};

struct Collected {
  bool given_up = false;  ///< all that is here is incomplete, and so are the simulations
  std::vector<EpisodeOutcome> outcomes;  ///< of the episodes that ended
  std::vector<Trajectory> trajectories;  ///< none where nothing is kept
};

class TrafficCollector {
 public:
  using TrafficOf = std::function<rollout::EpisodeSeed(int env, std::int64_t episode)>;

  TrafficCollector(const config::Config& config, rollout::TrafficPool& pool, TimeSplit& time_split);

  /// Uncontrolled episodes, which keep their traffic where the store says so;
  /// on_period is called with the place in `requests` and each period.
  /// @return in the order of the requests, as with run()
  std::vector<EpisodeOutcome> run_uncontrolled(
      const std::vector<EpisodeRequest>& requests,
      const std::function<void(std::size_t, const rollout::Period&)>& on_period = {},
      const rollout::PieceStore& store = {});

  /// Whole episodes, or pieces with a behaviour's stores; on_period as above.
  Collected run(const std::vector<EpisodeRequest>& requests, const Behaviour& behaviour,
                const std::function<void(std::size_t, const rollout::Period&)>& on_period = {});

  /// Every environment goes on where the last call left it and contributes this many control steps.
  /// Orders are environment * steps + the steps that it had contributed before.
  /// @param traffic_of an environment's episode, both counted from 0
  Collected run_fragments(std::int64_t steps, const Behaviour& behaviour,
                          const TrafficOf& traffic_of);

  /// Where the fragments of an environment of this rank stand.
  [[nodiscard]] const EpisodeState& fragment_state(int env) const { return fragments_.at(env); }
  void restore_fragment(int env, EpisodeState state);

  /// Simulation steps of this rank's episodes so far.
  [[nodiscard]] std::int64_t env_steps() const { return env_steps_; }

 private:
  config::Config config_;
  rollout::TrafficPool& pool_;
  rollout::Collector collector_;
  std::map<int, EpisodeState> fragments_;
  bool simulations_are_theirs_ = false;  ///< of the fragments; otherwise they are to be replayed
  std::int64_t env_steps_ = 0;
};

}  // namespace traffic::train
