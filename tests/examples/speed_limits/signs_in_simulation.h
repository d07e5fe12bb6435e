/// The agent `speed_limits` in a simulation.
#pragma once

#include "traffic/rollout/traffic/agent_in_simulation.h"

namespace traffic::example {

rollout::SimulatedAgent simulated_speed_limits();

}  // namespace traffic::example
