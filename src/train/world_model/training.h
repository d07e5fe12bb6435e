/// Phase 1: pretrains the graph encoder and the world model on recorded traffic.
#pragma once

#include "traffic/train/run/run.h"

namespace traffic::train {

/// Trains, or goes on training, until train.epochs or train.max_steps are done or a stop is
/// requested; then evaluates the best parameters on the test split, prints the table and writes the
/// summary. Collective.
/// @throws DataError, CheckpointError, NumericError, ResourceError, CommError
PhaseEnd run_world_model(Run& run);

/// What --dry-run checks: the data, the model's shapes, room for checkpoints. Collective.
void dry_run_world_model(Run& run);

}  // namespace traffic::train
