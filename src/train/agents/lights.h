/// The agent `lights`: one policy that controls all traffic lights of all road networks.
#pragma once

#include "traffic/train/agents/agent.h"

namespace traffic::train {

/// The row of the lights in the table of agents. Lights learn by PPO, or by Q-learning from a
/// replay. The number of ranks has no influence on their decisions, and changes their updates only
/// by rounding. AgentRow::make throws a ResourceError if the replay does not fit into memory.
AgentRow lights_agent();

}  // namespace traffic::train
