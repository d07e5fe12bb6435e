/// The agent `lights`: one policy for all traffic lights of all networks.
#pragma once

#include <memory>

#include "agents/agent.h"
#include "agents/context.h"

namespace traffic::train {

/// Creates the agent. Its decisions do not depend on the number of ranks, and neither do its
/// updates up to rounding. Collective.
/// @param by_values whether it learns by Q-learning from a replay; otherwise by PPO
/// @throws ResourceError if the replay does not fit into memory
std::unique_ptr<Agent> make_lights(const AgentContext& context, bool by_values);

}  // namespace traffic::train
