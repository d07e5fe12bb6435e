/// The one loop of all trainings: resume, iterate, evaluate, save, mark the best, stop on request,
/// profile, figures, summary.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Trains, or goes on training, until all steps are done or a stop is requested; then restores the
/// best parameters, has the training conclude and writes the summary. Collective.
/// @throws CheckpointError, NumericError, ResourceError, CommError and what the training throws
TrainingEnd run_training(Run& run, Training& training);

/// What --dry-run checks beyond making the training: room for checkpoints, and that a new run's
/// run.init_from fits. Collective.
/// @param is_there what it starts from is not still to be trained
void dry_run_training(Run& run, Training& training, bool is_there);

}  // namespace traffic::train
