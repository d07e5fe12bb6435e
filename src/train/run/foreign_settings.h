/// Refuses settings of a simulation that are not taken from a checkpoint, because a checkpoint may
/// come from another person and these settings could make SUMO overwrite files.
#pragma once

#include <set>
#include <string>

#include "traffic/config/config.h"

namespace traffic::train {

/// SUMO writes the files that its arguments or the file of a scenario name. Therefore only harmless
/// settings of [env] are taken from a checkpoint: numbers, switches, choices, vehicle types and
/// shipped scenarios. The user must give any other text on the command line.
/// @param config the checkpoint's settings, overridden by those that the user gave
/// @param given keys that the user gave; the option --scenario counts as env.scenario
/// @param name name of the checkpoint, for the message
/// @throws ConfigError that names all settings that the user must give, with the options for them
void refuse_foreign_settings(const config::Config& config, const std::set<std::string>& given,
                             const std::string& name);

/// The options that traffic_eval needs to evaluate a checkpoint in the simulations of `config`, for
/// a message, such as "--scenario 'my.sumocfg' ". Empty if the checkpoint alone is enough.
std::string options_of_foreign_settings(const config::Config& config);

}  // namespace traffic::train
