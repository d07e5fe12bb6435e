/// Determines, before a training begins, the values of configuration keys that are left to the
/// program, such as the keys that a search for scripted controllers sets.
#pragma once

#include "coordinator_summary.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// Stores these values in task.config, and sets task.config_path to the file that contains the
/// resulting configuration. The file is config.toml if no value has changed. Otherwise it is
/// resolved.toml, which this function writes. Collective.
/// @param dry_run if true, the function makes no long measurements and writes no file
/// @return kStopped if the user asked the program to stop meanwhile, otherwise kDone
TrainingEnd prepare_task(Job& job, TrainingTask& task, bool dry_run);

}  // namespace traffic::train
