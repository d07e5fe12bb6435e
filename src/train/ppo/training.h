/// Phases 2 and 3: train the controller in simulations by proximal policy optimisation; phase 3
/// keeps what its behaviour costs under a limit.
#pragma once

#include "traffic/train/run/run.h"

namespace traffic::train {

/// Trains, or goes on training, the phase of run.phase until ppo.iterations are done or a stop is
/// requested; then reports the evaluation of the best parameters and writes the summary.
/// Collective.
/// @throws WorkerError, CheckpointError, DataError, NumericError, ResourceError, CommError
PhaseEnd run_ppo(Run& run);

/// What --dry-run checks: scenario, simulations, model, room for checkpoints. Collective.
void dry_run_ppo(Run& run);

}  // namespace traffic::train
