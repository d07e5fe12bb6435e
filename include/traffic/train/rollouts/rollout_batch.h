/// The episodes that a training collects in simulations of traffic in one iteration.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "traffic/rollout/traffic/episode.h"
#include "traffic/scene/score.h"

namespace traffic::train {

struct Experience;

/// The result of an episode. A conflict is a place where streams of traffic meet.
struct EpisodeOutcome {
  std::int64_t order = 0;  ///< index among the episodes of all ranks
  rollout::EpisodeSeed traffic;
  std::int64_t steps = 0;  ///< control steps
  double reward = 0;       ///< sum over steps and conflicts (rollouts/reward.h)
  double cost = 0;         ///< sum over steps and conflicts (rollouts/cost.h)
  scene::EpisodeScore score;
};

/// The result of collecting an iteration. All counts are sums over the ranks. Agents other than the
/// vehicles record their experience themselves (agent_in_episodes.h).
struct RolloutBatch {
  /// This rank's experience of the vehicles; null if vehicles do not act.
  std::shared_ptr<const Experience> experience = nullptr;
  std::int64_t states = 0;     ///< control steps
  std::int64_t env_steps = 0;  ///< simulation steps
  /// All values of EpisodeOutcome::order and Trajectory::order are below this number. If the
  /// training collects whole episodes, it is the number of episodes.
  std::int64_t episodes = 0;
  std::vector<EpisodeOutcome> outcomes = {};  ///< episodes of all ranks that ended
};

}  // namespace traffic::train
