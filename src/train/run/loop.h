/// The one loop of all trainings: resume, iterate, evaluate, save, mark the best, stop on request,
/// profile, figures, summary.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Trains, or goes on training, until all steps are done or a stop is requested; then restores the
/// best parameters, has the training conclude and writes the summary. Collective.
/// @throws CheckpointError, NumericError, ResourceError, CommError and what the training throws
TrainingEnd run_training(Run& run, Training& training);

/// What --dry-run checks beyond making the training: room for checkpoints. Collective.
void dry_run_training(Run& run, Training& training);

}  // namespace traffic::train
