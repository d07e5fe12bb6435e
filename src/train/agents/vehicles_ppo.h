/// The agent `vehicles` if it learns by proximal policy optimisation (PPO).
#pragma once

#include <memory>

#include "traffic/train/agents/agent.h"

namespace traffic::train {

/// Creates the agent. Collective.
/// @param constrained whether to limit the cost of unsafe behaviour to lagrange.cost_limit (phase
///   3)
std::unique_ptr<Agent> make_vehicles_by_ppo(const AgentContext& context, bool constrained);

}  // namespace traffic::train
