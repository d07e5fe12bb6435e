/// Runs the trainings that run.phase names (the phases of a plan), one after the other. For each
/// phase it checks that simulations run, trains, retries after failures, and evaluates the result.
#pragma once

#include <functional>

#include "traffic/config/load.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// Collective. Trains every phase of the plan, or resumes it. Each phase starts from the result of
/// the preceding phase. If the plan has several phases, each has its own folder below the folder of
/// the job.
///
/// If a phase fails on all ranks, it is retried from its newest good checkpoint, at most
/// run.max_retries times. A failure of one rank alone (a crash, a lost connection) ends the job;
/// the same command then resumes it.
/// @throws the Error of a phase that failed and is not retried; summary.json contains its message
TrainingEnd run_plan(Job& job, const config::Plan& plan);

/// Collective. Performs the checks of --dry-run for every phase without training.
void dry_run_plan(Job& job, const config::Plan& plan);

}  // namespace traffic::train
