/// Which folder a run writes to.
#pragma once

#include <filesystem>

#include "traffic/config/config.h"

namespace traffic::train {

/// What config.toml of a run folder holds: the configuration less what says where and how it was
/// started, so that the same run is recognised.
std::string run_identity(const config::Config& config);

/// run.dir if it is set; else, with resume = "auto", the newest folder in runs/<name> that is an
/// unfinished run of the same configuration with a checkpoint; else a new folder.
/// @throws ConfigError if resume = "never" would overwrite the checkpoints in run.dir
std::filesystem::path choose_run_dir(const config::Config& config);

}  // namespace traffic::train
