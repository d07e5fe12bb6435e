/// What an iteration of a training collects in simulations of traffic.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "traffic/rollout/traffic/episode.h"
#include "traffic/scene/score.h"

namespace traffic::train {

struct Experience;

/// The result of an episode.
struct EpisodeOutcome {
  std::int64_t order = 0;  ///< index among the episodes of all ranks
  rollout::EpisodeSeed traffic;
  std::int64_t steps = 0;  ///< control steps
  double reward = 0;       ///< sum over steps and conflicts
  double cost = 0;         ///< sum over steps and conflicts
  scene::EpisodeScore score;
};

/// The result of collecting an iteration. All counts are sums over the ranks. Agents other than the
/// vehicles record their experience themselves (agent_in_episodes.h).
struct RolloutBatch {
  /// This rank's experience of the vehicles; null if vehicles do not act.
  std::shared_ptr<const Experience> experience = nullptr;
  std::int64_t states = 0;     ///< control steps
  std::int64_t env_steps = 0;  ///< simulation steps
  /// Upper bound of the orders of trajectories and outcomes (exclusive). With whole episodes this
  /// is the number of episodes.
  std::int64_t episodes = 0;
  std::vector<EpisodeOutcome> outcomes = {};  ///< episodes of all ranks that ended
};

}  // namespace traffic::train
