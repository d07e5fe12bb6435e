/// The part of the agent `speed_limits` that runs in a simulation: it observes the edges with signs
/// and sets their speed limits.
#pragma once

#include "traffic/rollout/traffic/agent_in_simulation.h"

namespace traffic::example {

rollout::SimulatedAgent simulated_speed_limits();

}  // namespace traffic::example
