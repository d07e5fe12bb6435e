/// The agent `lights`: one policy for all traffic lights of all networks.
#pragma once

#include "traffic/train/agents/agent.h"

namespace traffic::train {

/// The row of the lights, which learn by PPO, or by Q-learning from a replay. Neither their
/// decisions nor, except for rounding, their updates depend on the number of ranks.
/// AgentRow::make throws a ResourceError if the replay does not fit into memory.
AgentRow lights_agent();

}  // namespace traffic::train
