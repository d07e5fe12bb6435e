/// From the configuration to the options of a simulation.
#pragma once

#include "traffic/config/config.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::sim {

/// What [env] says about the simulation itself.
EnvOptions env_options(const config::Env& env);

}  // namespace traffic::sim
