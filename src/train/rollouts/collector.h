/// Runs episodes in the pool of simulations, deciding for all of a group in one batch.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policy/perception.h"
#include "policy/policy.h"
#include "rollouts/cost.h"
#include "rollouts/episode_state.h"
#include "rollouts/experience.h"
#include "rollouts/reward.h"
#include "traffic/config/config.h"
#include "traffic/report/time_split.h"
#include "traffic/rollout/traffic/traffic_pool.h"

namespace traffic::train {

/// An episode to run.
struct EpisodeRequest {
  std::int64_t order = 0;     ///< place among the requests of all ranks
  std::uint64_t seed = 0;     ///< of the traffic
  std::int64_t scenario = 0;  ///< which of config::scenario_mix
};
/// What is to be run, without its place.
struct EpisodeSeed {
  std::uint64_t seed = 0;
  std::int64_t scenario = 0;
};

/// Who decides.
struct Behaviour {
  Perception* perception = nullptr;
  Policy* policy = nullptr;
  const Reward* reward = nullptr;
  const Cost* cost = nullptr;                    ///< given where a reward is
  std::optional<std::uint64_t> sampling_seed{};  ///< nothing: greedy, and nothing is kept
  /// Of each scenario: a scripted controller that drives in the policy's place, and whose commands
  /// are kept as its decisions.
  std::vector<std::string> experts{};
  bool may_give_up = false;  ///< when a stop is requested
};

struct Collected {
  bool given_up = false;  ///< all that is here is incomplete, and so are the simulations
  std::vector<EpisodeOutcome> outcomes;  ///< of the episodes that ended
  std::vector<Trajectory> trajectories;  ///< none when greedy
};

class Collector {
 public:
  Collector(const config::Config& config, rollout::TrafficPool& pool,
            report::TimeSplit& time_split);

  /// Uncontrolled episodes; on_period is called with the place in `requests` and each period.
  /// @return in the order of the requests, as with run()
  std::vector<EpisodeOutcome> run_uncontrolled(
      const std::vector<EpisodeRequest>& requests,
      const std::function<void(std::size_t, const rollout::Period&)>& on_period = {});

  /// Whole episodes.
  Collected run(const std::vector<EpisodeRequest>& requests, const Behaviour& driver);

  /// Every environment goes on where the last call left it and contributes this many control steps.
  /// Orders are environment * steps + the steps that it had contributed before.
  /// @param traffic_of an environment's episode, both counted from 0
  Collected run_fragments(std::int64_t steps, const Behaviour& driver,
                          const std::function<EpisodeSeed(int, std::int64_t)>& traffic_of);

  /// Where the fragments of an environment of this rank stand.
  [[nodiscard]] const EpisodeState& fragment_state(int env) const { return fragments_.at(env); }
  void restore_fragment(int env, EpisodeState state);

  /// Simulation steps of this rank's episodes so far.
  [[nodiscard]] std::int64_t env_steps() const { return env_steps_; }

 private:
  struct Collection;  ///< one call of the above

  void drive(Collection& collection);
  void begin(Collection& collection, int env);
  void begin_fragment(Collection& collection, int env);
  void start(Collection& collection, int env, const EpisodeSeed& traffic);
  bool resume_fragment(Collection& collection, int env);
  void handle(Collection& collection, const rollout::Event& event, std::vector<int>& deciding);
  bool replay(EpisodeState& state, int env);
  void take_in(Collection& collection, EpisodeState& state, const rollout::Period& period);
  void end(Collection& collection, int env, const rollout::Period& period);
  void cut(Collection& collection, EpisodeState& state);
  void observe(Collection& collection, const std::vector<int>& envs);
  void decide(Collection& collection, std::vector<int> envs);
  [[nodiscard]] MaybeUniforms draw(const Collection& collection, const std::vector<int>& envs,
                                   const std::vector<std::int64_t>& candidate_ptr) const;
  void act(Collection& collection, int env, const DecisionsOfState& made);
  void follow(Collection& collection, int env);
  void take_over(const Collection& collection, EpisodeState& state,
                 const rollout::Period& period) const;

  config::Config config_;
  rollout::TrafficPool& pool_;
  report::TimeSplit& time_split_;
  std::map<int, EpisodeState> fragments_;
  bool simulations_are_theirs_ = false;  ///< of the fragments; otherwise they are to be replayed
  std::int64_t env_steps_ = 0;
};

}  // namespace traffic::train
