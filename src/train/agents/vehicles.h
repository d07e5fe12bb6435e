/// The agent `vehicles`: one controller of connected vehicles for all networks.
#pragma once

#include "traffic/train/agents/agent.h"

namespace traffic::train {

/// The row of the vehicles, which learn by PPO, by PPO under a limit on the cost, or by Q-learning.
AgentRow vehicles_agent();

}  // namespace traffic::train
