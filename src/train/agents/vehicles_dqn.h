/// The agent `vehicles` if it learns by double Q-learning from a replay.
#pragma once

#include <memory>
#include <optional>

#include "traffic/config/config.h"
#include "traffic/train/agents/agent.h"

namespace traffic::train {

/// Creates the agent. Collective.
/// @throws ResourceError if the replay does not fit into memory
std::unique_ptr<Agent> make_vehicles_by_dqn(const AgentContext& context);

/// The advice margin at the start of the training: a bonus on the value of the command that the
/// advisor gives. It is many times larger than the learned differences between values of commands,
/// so the policy at first follows the advice.
/// @return nothing if vehicles.advisor is empty
std::optional<double> first_advice_margin(const config::Config& config);

}  // namespace traffic::train
