/// The main of sumo_env: one SUMO simulation, child of a rollout worker.
#pragma once

#include <vector>

#include "traffic/rollout/traffic/agent_in_simulation.h"

namespace traffic::rollout {

/// @param more agents that may act besides vehicles and lights
/// @return exit code
int run_sumo_env(int argc, char** argv, const std::vector<SimulatedAgent>& more = {});

}  // namespace traffic::rollout
