/// Choice of the folder that a run writes to.
#pragma once

#include <filesystem>

#include "traffic/config/load.h"

namespace traffic::train {

/// Content of config.toml in a run folder: the configuration without the settings that say where
/// and how the run was started, so that the same run is recognised later.
std::string run_identity(const config::Plan& plan);

/// Returns run.dir if it is set. Otherwise, with resume = "auto" or "must", returns the newest
/// folder in runs/<name> that is an unfinished run of the same configuration with a checkpoint.
/// Otherwise creates a new folder that belongs to no other run.
/// @throws ConfigError if resume = "never" would overwrite the checkpoints in run.dir, or if no new
///   run can begin with these settings (TrainingRow::check_new)
/// @throws CheckpointError if resume = "must" finds no checkpoint
/// @throws ResourceError if the new folder cannot be created
std::filesystem::path choose_run_dir(const config::Plan& plan);

/// Creates the folder and those above it.
/// @throws ResourceError
void create_folder(const std::filesystem::path& dir);

}  // namespace traffic::train
