/// The agent `vehicles` that learns by double Q-learning from a replay.
#pragma once

#include <memory>
#include <optional>

#include "traffic/config/config.h"
#include "traffic/train/agents/agent.h"

namespace traffic::train {

/// Creates the agent. Collective.
/// @throws ResourceError if the replay does not fit into memory
std::unique_ptr<Agent> make_vehicles_by_dqn(const AgentContext& context);

/// The first advice margin. It is many times larger than the differences that are learned between
/// the values of commands, so the policy begins by following the advice.
/// @return nothing if there is no advisor
std::optional<double> first_advice_margin(const config::Config& config);

}  // namespace traffic::train
