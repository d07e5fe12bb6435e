/// What a training finds out before it begins, beside what was asked for.
#pragma once

#include "coordinator_summary.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// Prepares the training and writes what it takes to a file: config.toml where that is what was
/// asked for, else resolved.toml. Collective.
/// @param dry_run nothing may take long, and nothing is written
/// @return kStopped if it was given up because a stop is requested
TrainingEnd prepare_task(Job& job, TrainingTask& task, bool dry_run);

}  // namespace traffic::train
