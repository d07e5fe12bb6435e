/// What lights that act live through, episode by episode.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "policy/light_policy.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/score.h"
#include "traffic/scene/signal_graph.h"

namespace traffic::train::lights {

/// What one light saw, chose and got in an episode: n decisions in time.
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
  scene::EpisodeScore score;
};

/// What is kept of a control period.
struct Crediting {
  double reward_scale = 1.0;
  double gamma = 1.0;  ///< discount of a control period
};

/// The episodes of some environments, each of which has one at a time: a policy sets the lights,
/// and what it saw, chose and got is kept. One by one: what a simulation is told does not depend on
/// which others have answered.
class LightHistories {
 public:
  /// @param policy null: the simulation sets them
  LightHistories(LightPolicy* policy, const Crediting& crediting)
      : policy_(policy), crediting_(crediting) {}

  [[nodiscard]] bool looks_around() const { return policy_ != nullptr && policy_->looks_around(); }
  /// @param sampling_seed choices are drawn from it and kept; nothing: the most probable ones, and
  /// nothing is kept but the score
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

  LightPolicy* policy_;
  Crediting crediting_;
  std::map<int, Running> running_;
  std::vector<scene::SignalCommand> commands_;
  std::vector<float> uniforms_;
};

}  // namespace traffic::train::lights
