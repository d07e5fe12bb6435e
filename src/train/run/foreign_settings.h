/// The settings of a simulation that are not taken from a checkpoint.
#pragma once

#include <set>
#include <string>

#include "traffic/config/config.h"

namespace traffic::train {

/// People send each other checkpoints, and SUMO writes whatever file its arguments, or the file of
/// a scenario, name. So numbers, switches, choices, vehicle types and shipped scenarios of [env]
/// are taken from a checkpoint; the user has to give any other text on the command line.
/// @param config the checkpoint's settings, overridden by those that the user gave
/// @param given keys that the user gave; env.scenario for --scenario, too
/// @param name name of the checkpoint, for the message
/// @throws ConfigError with all settings that the user has to give, and how
void refuse_foreign_settings(const config::Config& config, const std::set<std::string>& given,
                             const std::string& name);

/// The options with which traffic_eval evaluates a checkpoint in the simulations of `config`, for a
/// message: "--scenario 'my.sumocfg' "; empty if the checkpoint is enough.
std::string options_of_foreign_settings(const config::Config& config);

}  // namespace traffic::train
