/// Chooses the folder that a run writes to: a new one, or the folder of an unfinished run to
/// resume.
#pragma once

#include <filesystem>

#include "traffic/config/load.h"

namespace traffic::train {

/// Content of config.toml in a run folder. It is the configuration without run.dir and run.resume,
/// which may differ when the same run is started again. An unfinished run is found by comparing
/// this text.
std::string run_identity(const config::Plan& plan);

/// Returns run.dir if it is set. Otherwise, if run.resume is "auto" or "must", returns the newest
/// folder in runs/<run.name> of an unfinished run with the same configuration and a checkpoint. If
/// no such folder exists, creates a new one that belongs to no other run.
/// @throws ConfigError if run.resume is "never" and run.dir contains checkpoints, or if no new run
///   can begin with these settings (TrainingRow::check_new)
/// @throws CheckpointError if run.resume is "must" and there is no checkpoint
/// @throws ResourceError if the new folder cannot be created
std::filesystem::path choose_run_dir(const config::Plan& plan);

/// Creates the folder and its missing parent folders.
/// @throws ResourceError
void create_folder(const std::filesystem::path& dir);

}  // namespace traffic::train
