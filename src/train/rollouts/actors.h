/// The agents that a rank decides for in its episodes.
#pragma once

#include <vector>

#include "policy/decider.h"
#include "traffic/train/rollouts/agent_in_episodes.h"

namespace traffic::train {

/// The agents that act. Traffic without an agent is left to SUMO: vehicles follow their
/// car-following models, lights run their own programs.
///
/// Vehicles decide for many environments in one batch, imitate scripts and continue fragments of
/// episodes, so the collector treats them separately. It calls all other agents through one
/// interface.
struct Actors {
  const Decider* vehicles = nullptr;          ///< null: vehicles do not act
  std::vector<AgentInEpisodes*> others = {};  ///< in the order of the table of agents

  [[nodiscard]] bool any() const { return vehicles != nullptr || !others.empty(); }
};

}  // namespace traffic::train
