/// The set of agents that act in the episodes of a collection or an evaluation.
#pragma once

#include <vector>

#include "policy/decider.h"
#include "traffic/train/rollouts/agent_in_episodes.h"

namespace traffic::train {

/// The agents that act. SUMO controls everything that has no agent: vehicles follow their
/// car-following models, lights run their own programs.
///
/// Vehicles decide for many environments in one batch, imitate scripts and continue fragments of
/// episodes, so the collector treats them separately. It calls all other agents through one
/// interface.
struct Actors {
  const Decider* vehicles = nullptr;  ///< policy of the vehicles; null if vehicles do not act
  /// Agents other than the vehicles, in the order of the table of agents.
  std::vector<AgentInEpisodes*> others = {};

  [[nodiscard]] bool any() const { return vehicles != nullptr || !others.empty(); }
};

}  // namespace traffic::train
