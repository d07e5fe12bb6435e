/// The agent `vehicles`, learning by double Q-learning from a replay.
#pragma once

#include <memory>
#include <optional>

#include "agents/agent.h"
#include "agents/context.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Collective. @throws ResourceError if the replay does not fit into memory
std::unique_ptr<Agent> make_vehicles_by_dqn(const AgentContext& context);

/// The advice margin that is tried first: many times the difference that commands turn out to make
/// in any objective (a reward is a gain in %). Nothing without an advisor.
std::optional<double> first_advice_margin(const config::Config& config);

}  // namespace traffic::train
