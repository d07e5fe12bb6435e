/// The configuration of an evaluation: its simulations and the safety limit.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/config/command_line.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// Controllers and scenarios on the command line of an evaluation.
struct EvaluationNames {
  std::vector<std::string> controllers;  ///< such as none, yield(lead_s=12), checkpoint:PATH
  std::vector<std::string> scenarios;    ///< names or files; may be empty
};

/// Prints a line for the user.
using Say = std::function<void(const std::string&)>;

/// Whether the command line sets a key, with --set or an option of its own.
bool is_set(const config::CommonOptions& options, std::string_view key);

/// The configuration of an evaluation. It comes from the configuration file; without one, from the
/// first checkpoint, so that the controller acts as in its training; without either, from the
/// defaults. --preset and --set override it.
/// @param say is told which settings of the other checkpoints are not used
/// @throws CheckpointError if a checkpoint cannot be read
/// @throws ConfigError if a checkpoint has settings that the user must give (foreign_settings.h)
config::Config evaluation_config(const EvaluationNames& names, const config::CommonOptions& options,
                                 const Say& say);

/// The environment of a configuration in one scenario. A checkpoint stores the episode length of
/// the scenarios of its training. Any other scenario runs to its own end, unless the configuration
/// file or the command line sets env.max_time_s.
/// @param say is told of a length that is not used
config::Env env_in_scenario(const config::Env& env, const std::string& scenario,
                            const config::CommonOptions& options, const Say& say);

}  // namespace traffic::train
