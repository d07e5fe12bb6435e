/// The common loop of all trainings. It resumes a training, runs its steps, evaluates it, saves
/// checkpoints, marks the best one, stops on request, and writes metrics and the summary.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Trains, or resumes training, until all steps are done or a stop is requested. When all steps are
/// done it restores the best parameters and lets the training conclude. Finally it writes the
/// summary. Collective.
/// @throws CheckpointError, NumericError, ResourceError, CommError and the exceptions of the
///   training
TrainingEnd run_training(Run& run, Training& training);

/// Makes those checks of --dry-run that need a constructed training: whether there is room for
/// checkpoints, and whether the checkpoint in run.init_from fits a new run. Collective.
/// @param is_there whether the checkpoint in run.init_from exists already; it may be the result of
///   an earlier phase of the same run
void dry_run_training(Run& run, Training& training, bool is_there);

}  // namespace traffic::train
