/// The common loop of all trainings: it resumes, iterates, evaluates, saves, marks the best
/// checkpoint, stops on request, profiles, and writes metrics and the summary.
#pragma once

#include "traffic/train/run/training.h"

namespace traffic::train {

/// Trains, or resumes training, until all steps are done or a stop is requested. When all steps are
/// done it restores the best parameters and lets the training conclude. Finally it writes the
/// summary. Collective.
/// @throws CheckpointError, NumericError, ResourceError, CommError and the exceptions of the
///   training
TrainingEnd run_training(Run& run, Training& training);

/// Checks of --dry-run beyond constructing the training: room for checkpoints, and whether
/// run.init_from of a new run fits. Collective.
/// @param is_there whether the checkpoint that the training starts from exists already
void dry_run_training(Run& run, Training& training, bool is_there);

}  // namespace traffic::train
