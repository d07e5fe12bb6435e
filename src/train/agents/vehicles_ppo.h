/// The agent `vehicles` that learns by proximal policy optimisation.
#pragma once

#include <memory>

#include "traffic/train/agents/agent.h"

namespace traffic::train {

/// Creates the agent. Collective.
/// @param constrained whether cost is kept under lagrange.cost_limit
std::unique_ptr<Agent> make_vehicles_by_ppo(const AgentContext& context, bool constrained);

}  // namespace traffic::train
