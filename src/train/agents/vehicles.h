/// The agent `vehicles`: one controller of connected vehicles for all road networks.
#pragma once

#include "traffic/train/agents/agent.h"

namespace traffic::train {

/// The row of the vehicles in the table of agents. Vehicles learn by PPO, by PPO under a limit on
/// the cost, or by Q-learning.
AgentRow vehicles_agent();

}  // namespace traffic::train
