/// The table of the agents that can learn in simulations (traffic/train/agents/agent.h).
#pragma once

#include <vector>

#include "traffic/config/config.h"
#include "traffic/train/agents/agent.h"

namespace traffic::train {

/// The rows of the agents that env.agents names, in the order of the table: vehicles, lights, then
/// the agents that programs have added with add_agent().
std::vector<AgentRow> acting_rows(const config::Env& env);

}  // namespace traffic::train
