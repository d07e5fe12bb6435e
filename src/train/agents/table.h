/// The table of agents.
#pragma once

#include <vector>

#include "traffic/config/config.h"
#include "traffic/train/agents/agent.h"

namespace traffic::train {

/// The rows of the agents that env.agents names, in the order of the table: vehicles, lights, then
/// the agents that were added.
std::vector<AgentRow> acting_rows(const config::Env& env);

}  // namespace traffic::train
