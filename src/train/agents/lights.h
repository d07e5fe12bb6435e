/// The agent `lights`: one policy for all traffic lights of all networks.
#pragma once

#include <memory>

#include "agents/agent.h"
#include "agents/context.h"

namespace traffic::train {

/// Collective. What the lights do and learn does not depend on the number of ranks.
/// @param by_values learn by Q-learning from a replay; else by PPO
/// @throws ResourceError if a replay does not fit into memory
std::unique_ptr<Agent> make_lights(const AgentContext& context, bool by_values);

}  // namespace traffic::train
