/// Which folder a run writes to.
#pragma once

#include <filesystem>

#include "traffic/config/load.h"

namespace traffic::train {

/// What config.toml of a run folder holds: the configuration less what says where and how it was
/// started, so that the same run is recognised.
std::string run_identity(const config::Plan& plan);

/// run.dir if it is set; else, with resume = "auto" or "must", the newest folder in runs/<name>
/// that is an unfinished run of the same configuration with a checkpoint; else a new folder, which
/// is made and is no other run's, whenever that began.
/// @throws ConfigError if resume = "never" would overwrite the checkpoints in run.dir, or if no new
///     run can begin with these settings (TrainingRow::check_new)
/// @throws CheckpointError if resume = "must" finds no checkpoint
/// @throws ResourceError if the new folder cannot be made
std::filesystem::path choose_run_dir(const config::Plan& plan);

/// Makes it and the folders above it.
/// @throws ResourceError
void create_folder(const std::filesystem::path& dir);

}  // namespace traffic::train
