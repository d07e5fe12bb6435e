/// What a checkpoint may say of the simulations in which its controller is evaluated.
#pragma once

#include <set>
#include <string>

#include "traffic/config/config.h"

namespace traffic::train {

/// People send each other checkpoints, and SUMO writes whatever file its arguments, or the file of
/// a scenario, name. So of [env] numbers, switches, choices, vehicle types and shipped scenarios
/// are taken from a checkpoint; any other text has to be said by who runs the program.
/// @param config what is to be used: the checkpoint's, with what the user said on top
/// @param said keys that the user gave; env.scenario for --scenario, too
/// @param name of the checkpoint, for the message
/// @throws ConfigError with what the checkpoint asks for and how to say it or leave it out
void refuse_foreign_settings(const config::Config& config, const std::set<std::string>& said,
                             const std::string& name);

}  // namespace traffic::train
