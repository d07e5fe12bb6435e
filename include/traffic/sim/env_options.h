/// Functions that turn the configuration into options of simulations and controllers.
#pragma once

#include <memory>

#include "traffic/config/config.h"
#include "traffic/scene/advisor.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::sim {

/// The options of a simulation of env.scenario.
EnvOptions env_options(const config::Env& env);
/// The options of a simulation of the first scenario that the configuration names.
EnvOptions first_env_options(const config::Env& env);

/// The vehicles that a trained controller may command, by the settings of the configuration.
scene::CandidateRule candidate_rule(const config::Config& config);
/// Defaults of a scripted controller in a training, for parameters that its text does not set.
scene::ControllerOptions controller_options(const config::Config& config);

/// The advisor that the configuration names; null if it names none. Its script needs no reset().
std::unique_ptr<scene::Advisor> make_advisor(const config::Config& config);

}  // namespace traffic::sim
