/// Runs the phases of a plan in turn: health check, training, evaluation, hand-over, retry.
#pragma once

#include <functional>

#include "traffic/config/load.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// Trains, or goes on training, every phase of the plan, each from the best checkpoint of the one
/// before; with more than one, each in a folder of its own below the job's. A phase that failed
/// begins again from its newest good checkpoint, run.max_retries times at most; what only one rank
/// knows of (it crashed, it lost the others) ends the job instead, and the same command goes on.
/// Collective.
/// @throws what a phase throws, when it cannot be retried any more; the summary then says so
TrainingEnd run_plan(Job& job, const config::Plan& plan);

/// What --dry-run checks of every phase. Collective.
void dry_run_plan(Job& job, const config::Plan& plan);

}  // namespace traffic::train
