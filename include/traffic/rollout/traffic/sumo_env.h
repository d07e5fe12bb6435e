/// The main function of the program sumo_env, which runs SUMO simulations for a training. A rollout
/// worker starts it as a child process. Programs with additional agents call it from their own
/// main.
#pragma once

#include <vector>

#include "traffic/rollout/traffic/agent_in_simulation.h"

namespace traffic::rollout {

/// @param more agents that env.agents may name besides vehicles and lights
/// @return exit code
int run_sumo_env(int argc, char** argv, const std::vector<SimulatedAgent>& more = {});

}  // namespace traffic::rollout
