/// Chooses the configuration of an evaluation: the settings of its simulations and the safety
/// limit. The programs traffic_eval and traffic_doctor use it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/config/command_line.h"
#include "traffic/config/config.h"
#include "traffic/scene/controller.h"

namespace traffic::train {

/// Controllers and scenarios on the command line of an evaluation.
struct EvaluationNames {
  std::vector<std::string> controllers;  ///< such as none, yield(lead_s=12), checkpoint:PATH
  /// Scenario names or files; if empty, the configuration names the scenario.
  std::vector<std::string> scenarios;
};

/// Prints a line for the user.
using Say = std::function<void(const std::string&)>;

/// Whether the command line sets a key, with --set or an option of its own.
bool is_set(const config::CommonOptions& options, std::string_view key);

/// The configuration of an evaluation. It comes from the configuration file, if the user named one.
/// Otherwise it comes from the first checkpoint, so that this controller acts as in its training.
/// If there is no checkpoint either, the defaults apply. The options --preset and --set override
/// all three.
/// @param say called with a line about settings of other checkpoints that are not used
/// @throws CheckpointError if a checkpoint cannot be read
/// @throws ConfigError if a checkpoint has settings that are not taken from files of other people
///   (foreign_settings.h), so that the user must give them
config::Config evaluation_config(const EvaluationNames& names, const config::CommonOptions& options,
                                 const Say& say);

/// The settings [env] of a configuration for one scenario. A checkpoint stores the episode length
/// env.max_time_s of its training, which applies to the scenarios of that training. In any other
/// scenario an episode lasts until the scenario's own end. A length in the configuration file or on
/// the command line applies to every scenario.
/// @param say called with a line about an episode length that is not used
config::Env env_in_scenario(const config::Env& env, const std::string& scenario,
                            const config::CommonOptions& options, const Say& say);

/// Makes a controller by its name: a script, checkpoint:PATH, or two of them joined by "+". The
/// script env.beside joins a name of a single part if the script commands the other kind of agent:
/// lights beside vehicles, or vehicles beside lights.
/// @throws ConfigError, CheckpointError
std::unique_ptr<scene::Controller> make_controller(const config::Config& config,
                                                   const std::string& name);

}  // namespace traffic::train
