/// The experience of traffic lights, episode by episode.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "policy/light_policy.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/signal_graph.h"

namespace traffic::train::lights {

/// The observations, choices and rewards of one light in an episode: n decisions in time.
struct LightHistory {
  std::vector<float> rows;            ///< of all greens, decision by decision
  std::vector<std::int32_t> greens;   ///< how many rows each decision has
  std::vector<std::int32_t> present;  ///< among them
  std::vector<std::int32_t> chosen;   ///< among them
  std::vector<float> log_prob;
  std::vector<float> value;   ///< standardised
  std::vector<float> reward;  ///< from a decision to the next one, discounted to that decision
  std::vector<std::int64_t> periods;      ///< control periods from a decision to the next one
  std::vector<std::int64_t> moment = {};  ///< of a policy that looks around: among the episode's
};

struct EpisodeHistory {
  std::int64_t order = 0;                        ///< place among the episodes of all ranks
  std::vector<LightHistory> lights;              ///< empty where nothing is kept
  std::vector<scene::SignalGraph> moments = {};  ///< for a policy that looks around
};

/// How the time lost in a control period becomes a reward.
struct Crediting {
  double reward_scale = 1.0;
  double gamma = 1.0;  ///< discount of a control period
};

/// Lets a policy set the lights of some environments, and keeps the experience of their present
/// episodes. Decides for one environment at a time, so that the commands to a simulation do not
/// depend on which others have answered.
class LightHistories {
 public:
  /// @param policy outlives this
  LightHistories(LightPolicy& policy, const Crediting& crediting)
      : policy_(policy), crediting_(crediting) {}

  [[nodiscard]] bool looks_around() const { return policy_.looks_around(); }
  /// @param sampling_seed choices are drawn from it and kept; nothing: the most probable ones, and
  /// nothing is kept
  void begin(int env, std::int64_t order, std::optional<std::uint64_t> sampling_seed);
  void take_in(int env, const rollout::Period& period);
  /// @return valid until the next call
  const std::vector<scene::SignalCommand>& decide(int env, const rollout::LightSection& period);
  EpisodeHistory end(int env);

 private:
  /// The episode of an environment.
  struct Running {
    EpisodeHistory history;
    std::optional<std::uint64_t> sampling_seed;
    std::int64_t decisions = 0;
  };
  void keep(EpisodeHistory& history, const rollout::LightSection& period,
            const LightDecisions& made) const;

  LightPolicy& policy_;
  Crediting crediting_;
  std::map<int, Running> running_;
  std::vector<scene::SignalCommand> commands_;
  std::vector<float> uniforms_;
};

}  // namespace traffic::train::lights
