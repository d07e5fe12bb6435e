/// Makes a controller from a checkpoint. It has the interface of the scripted controllers, so that
/// evaluations and users run it like a script.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "policy/decides.h"
#include "traffic/config/config.h"
#include "traffic/config/load.h"
#include "traffic/scene/controller.h"

namespace traffic::train {

class DecisionWatch;

/// The configuration that a checkpoint was made with.
struct CheckpointSettings {
  config::Config config;
  std::vector<std::string> unknown;  ///< stored keys and tables that this version does not know
};
/// Reads the settings from a checkpoint.
/// @param overrides values that replace stored ones
/// @throws CheckpointError if the file is no valid checkpoint
/// @throws ConfigError if this version does not accept a value
CheckpointSettings settings_of_checkpoint(const std::filesystem::path& path,
                                          const config::Overrides& overrides = {});

/// Loads the controller of vehicles, traffic lights or both from a checkpoint; it runs on the CPU.
/// It uses the control period, the zone, the commands and the maximum number of vehicles of its
/// training. The name may say whether the controller decides greedily or by sampling; by default,
/// the checkpoint's setting applies. If the checkpoint holds both agents, the lights always decide
/// greedily.
/// @param watch sees every decision; null: nobody does
/// @throws CheckpointError if the checkpoint holds no controller
std::unique_ptr<scene::Controller> make_policy_controller(const CheckpointName& name,
                                                          DecisionWatch* watch = nullptr);

}  // namespace traffic::train
