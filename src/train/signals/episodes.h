/// Episodes whose traffic lights act, carried through the pool of simulations.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/signal_policy.h"
#include "traffic/core/time_split.h"
#include "traffic/rollout/pool/collector.h"
#include "traffic/rollout/traffic/signal_pool.h"
#include "traffic/scene/signal_graph.h"

namespace traffic::train::signals {

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
  std::int64_t env_steps = 0;
};

/// Who sets the lights, and what is kept.
struct EpisodesWanted {
  std::vector<std::int64_t> orders;  ///< of this rank
  std::function<rollout::EpisodeSpec(std::int64_t order)> spec_of;
  SignalPolicy* policy = nullptr;  ///< null: who the specification names
  /// Choices are drawn from it and kept; nothing: the most probable ones, nothing is kept.
  std::optional<std::uint64_t> sampling_seed{};
  double reward_scale = 1.0;
  double gamma = 1.0;        ///< discount of a control period
  bool may_give_up = false;  ///< when a stop is requested
};

/// @return in the order of `orders`; nothing if it was given up because a stop is requested
/// @throws WorkerError when a simulation cannot be kept running
std::optional<std::vector<EpisodeHistory>> run_episodes(rollout::SignalPool& pool,
                                                        const EpisodesWanted& wanted,
                                                        TimeSplit& time_split);

}  // namespace traffic::train::signals
