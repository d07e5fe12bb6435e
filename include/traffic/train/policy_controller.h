/// A trained controller behind the interface of the scripted ones.
#pragma once

#include <filesystem>
#include <memory>

#include "traffic/config/config.h"
#include "traffic/scene/controller.h"

namespace traffic::train {

/// The configuration that a checkpoint was made with.
/// @throws CheckpointError
config::Config config_of_checkpoint(const std::filesystem::path& path);

/// Greedy decisions of the controller of a checkpoint of phase 2 or 3, on the CPU. Control period,
/// zone, commands and number of vehicles are those that it was trained with.
/// @throws CheckpointError if the file holds no controller
std::unique_ptr<scene::Controller> make_policy_controller(const std::filesystem::path& path);

}  // namespace traffic::train
