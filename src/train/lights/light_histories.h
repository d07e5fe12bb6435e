/// Lets a policy control the traffic lights of simulations, and records what each light observed,
/// chose and gained in an episode.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "policy/light_policy.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/signal_graph.h"

namespace traffic::train::lights {

/// The observations, choices and rewards of one light in an episode, in the order of its decisions.
struct LightHistory {
  std::vector<float> rows;                ///< features of all greens, decision by decision
  std::vector<std::int32_t> greens;       ///< number of greens (rows) of each decision
  std::vector<std::int32_t> present;      ///< index of the green shown at the decision
  std::vector<std::int32_t> chosen;       ///< index of the chosen green
  std::vector<float> log_prob;            ///< log-probability of the chosen green
  std::vector<float> value;               ///< value estimate, standardised
  std::vector<float> reward;              ///< discounted sum of rewards up to the next decision
  std::vector<std::int64_t> periods;      ///< number of control periods until the next decision
  std::vector<std::int64_t> moment = {};  ///< index in EpisodeHistory::moments; may be empty
};

/// The histories of all lights in an episode.
struct EpisodeHistory {
  std::int64_t order = 0;            ///< index among the episodes of all ranks
  std::vector<LightHistory> lights;  ///< empty if the episode is not recorded
  /// Graphs of all lights, one for each time at which a light decides. Empty if the policy reads no
  /// graph.
  std::vector<scene::SignalGraph> moments = {};
};

/// How the time lost in a control period becomes a reward.
struct Crediting {
  double reward_scale = 1.0;  ///< loss of reward for each second that a vehicle loses
  double gamma = 1.0;         ///< discount of a control period
};

/// Lets a policy control the lights of several environments and records their current episodes. The
/// policy decides for one environment at a time, so that its commands do not depend on the other
/// environments.
class LightHistories {
 public:
  /// @param policy must outlive this object
  LightHistories(LightPolicy& policy, const Crediting& crediting)
      : policy_(policy), crediting_(crediting) {}

  /// Whether the policy reads the graph of all lights.
  [[nodiscard]] bool looks_around() const { return policy_.looks_around(); }
  /// Begins an episode.
  /// @param order index of the episode among those of all ranks
  /// @param sampling_seed seed with which the policy samples its choices, which are then recorded.
  ///   If it is nothing, the policy chooses the most probable greens, and the episode is not
  ///   recorded.
  void begin(int env, std::int64_t order, std::optional<std::uint64_t> sampling_seed);
  /// Subtracts the time lost in a control period from the reward of each light's last decision.
  void take_in(int env, const rollout::Period& period);
  /// Chooses a green for each light that may switch.
  /// @return commands, valid until the next call
  const std::vector<scene::SignalCommand>& decide(int env, const rollout::LightSection& period);
  /// Ends the episode and returns its history.
  EpisodeHistory end(int env);

 private:
  /// The current episode of an environment.
  struct Running {
    EpisodeHistory history;
    std::optional<std::uint64_t> sampling_seed;
    std::int64_t decisions = 0;  ///< number of times that the policy has decided in this episode
  };
  /// Records the decisions of the policy at one time.
  void keep(EpisodeHistory& history, const rollout::LightSection& period,
            const LightDecisions& made) const;

  LightPolicy& policy_;
  Crediting crediting_;
  std::map<int, Running> running_;
  std::vector<scene::SignalCommand> commands_;
  std::vector<float> uniforms_;
};

}  // namespace traffic::train::lights
