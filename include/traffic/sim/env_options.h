/// From the configuration to the options of a simulation.
#pragma once

#include <memory>

#include "traffic/config/config.h"
#include "traffic/scene/advisor.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::sim {

/// What [env] says about the simulation itself.
EnvOptions env_options(const config::Env& env);
/// The same with the first of its scenarios (config::scenario_mix).
EnvOptions first_env_options(const config::Env& env);

/// The vehicles that a trained controller may pick, by [env] and by vehicles.commands.
scene::CandidateRule candidate_rule(const config::Config& config);
/// What a scripted controller takes in a training where its text leaves it open.
scene::ControllerOptions controller_options(const config::Config& config);

/// Of vehicles.advisor, whose script needs no reset(); null: none.
std::unique_ptr<scene::Advisor> make_advisor(const config::Config& config);

}  // namespace traffic::sim
