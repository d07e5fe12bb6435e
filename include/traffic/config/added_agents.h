/// Tells whether a configuration needs an agent that a program has added by register_agent()
/// (schema.h) to the shipped agents, vehicles and lights.
#pragma once

#include "traffic/config/config.h"

namespace traffic::config {

/// Whether env.agents names an agent that this program has added. Other programs that this program
/// starts, such as traffic_eval, do not know that agent.
bool names_added_agent(const Env& env);

}  // namespace traffic::config
