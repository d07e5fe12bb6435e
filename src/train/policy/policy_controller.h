/// Runs a trained controller behind the interface of the scripted controllers.
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

/// The configuration that a checkpoint was made with.
struct CheckpointSettings {
  config::Config config;
  std::vector<std::string> unknown;  ///< stored keys and tables that this version does not know
};
/// @param overrides replace stored values
/// @throws CheckpointError if the file is no valid checkpoint
/// @throws ConfigError if this version does not accept a value
CheckpointSettings settings_of_checkpoint(const std::filesystem::path& path,
                                          const config::Overrides& overrides = {});

/// Loads the controller of vehicles, traffic lights or both from a checkpoint; it runs on the CPU.
/// Control period, zone, commands and number of vehicles are those of its training. It decides
/// greedily or sampled as the checkpoint says, unless the name says otherwise.
/// @throws CheckpointError if the checkpoint holds no controller
std::unique_ptr<scene::Controller> make_policy_controller(const CheckpointName& name);

}  // namespace traffic::train
