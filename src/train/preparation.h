/// Determines the values that a configuration leaves open, before the training begins.
#pragma once

#include "coordinator_summary.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// Determines the open values of task.config, and sets task.config_path to the file that contains
/// the result: config.toml if nothing has changed, otherwise resolved.toml, which this function
/// writes. Collective.
/// @param dry_run nothing may take long, and nothing is written
/// @return kStopped if a stop was requested meanwhile
TrainingEnd prepare_task(Job& job, TrainingTask& task, bool dry_run);

}  // namespace traffic::train
