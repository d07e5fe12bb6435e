/// Runs the phases of a plan in turn: health check of the simulations, training with retries, and
/// evaluation of the result.
#pragma once

#include <functional>

#include "traffic/config/load.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// Collective. Trains every phase of the plan, or resumes it. Each phase starts from the result of
/// the preceding one. If there are several, each has its own folder below the job's.
///
/// If a phase fails on all ranks, it is retried from its newest good checkpoint, at most
/// run.max_retries times. A failure of one rank alone (a crash, a lost connection) ends the job;
/// the same command then resumes it.
/// @throws Error of a phase that is not retried; the summary records it
TrainingEnd run_plan(Job& job, const config::Plan& plan);

/// Collective. Performs the checks of --dry-run for every phase without training.
void dry_run_plan(Job& job, const config::Plan& plan);

}  // namespace traffic::train
