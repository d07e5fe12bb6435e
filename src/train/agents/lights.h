/// The agent `lights`: one policy for all traffic lights of all networks.
#pragma once

#include "traffic/train/agents/agent.h"

namespace traffic::train {

/// The row of the lights, which learn by PPO, or by Q-learning from a replay. Their decisions do
/// not depend on the number of ranks, and neither do their updates up to rounding. Making the agent
/// throws a ResourceError if the replay does not fit into memory.
AgentRow lights_agent();

}  // namespace traffic::train
