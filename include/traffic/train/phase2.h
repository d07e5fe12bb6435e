/// Phase 2: trains the controller in simulations by proximal policy optimisation.
#pragma once

#include "traffic/comm/mpi_session.h"
#include "traffic/train/phase1.h"
#include "traffic/train/run.h"

namespace traffic::train {

/// Trains, or goes on training, until ppo.iterations are done or a stop is requested; then reports
/// the evaluation of the best parameters and writes the summary. Collective.
/// @throws WorkerError, CheckpointError, DataError, NumericError, ResourceError, CommError
PhaseEnd run_phase2(Run& run, const comm::MpiSession& session);

/// What --dry-run checks: scenario, simulations, model, room for checkpoints. Collective.
void dry_run_phase2(Run& run, const comm::MpiSession& session);

}  // namespace traffic::train
