/// A trained controller behind the interface of the scripted ones.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/config/load.h"
#include "traffic/scene/controller.h"
#include "traffic/train/policy/decides.h"

namespace traffic::train {

/// What a checkpoint was made with.
struct CheckpointSettings {
  config::Config config;
  std::vector<std::string> unknown;  ///< keys and tables in it that this version does not know
};
/// @param overrides on top of them
/// @throws CheckpointError, ConfigError if a value is none that this version takes
CheckpointSettings settings_of_checkpoint(const std::filesystem::path& path,
                                          const config::Overrides& overrides = {});

/// The controller of a checkpoint of phase 2 or 3, on the CPU. Control period, zone, commands and
/// number of vehicles are those that it was trained with; it decides as the checkpoint says unless
/// the name says otherwise.
/// @throws CheckpointError if the file holds no controller
std::unique_ptr<scene::Controller> make_policy_controller(const CheckpointName& name);

}  // namespace traffic::train
