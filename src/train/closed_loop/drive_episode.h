/// Runs one episode of an evaluation of drivers: a driver drives the egos of a scenario with one
/// seed. Each episode runs in a process of its own.
#pragma once

#include <functional>
#include <string>

#include "traffic/train/closed_loop/drive_evaluation.h"

namespace traffic::train {

/// Identifies an episode of a plan.
struct DriveTask {
  std::size_t driver = 0;    ///< index in DriveEvaluationPlan::drivers
  std::size_t scenario = 0;  ///< index in DriveEvaluationPlan::scenarios
  std::size_t seed = 0;      ///< index in DriveEvaluationPlan::seeds
};

/// The episode with a number from 0 to num_drive_tasks() - 1. Numbers first count the seeds of the
/// first scenario under the first driver, then those of the second scenario, and so on.
DriveTask drive_task(const DriveEvaluationPlan& plan, std::size_t number);
/// Number of episodes of a plan.
std::size_t num_drive_tasks(const DriveEvaluationPlan& plan);
/// "driver idm, scenario town, seed 3"
std::string describe(const DriveEvaluationPlan& plan, const DriveTask& task);

/// Drives an episode. Call it once per process.
/// @param progress called after every frame with the share of the episode that is done
/// @return names and metrics of the egos as JSON
std::string run_drive_episode(const DriveEvaluationPlan& plan, const DriveTask& task,
                              const std::function<void(double share)>& progress);
/// Parses the result of an episode.
/// @param text result of run_drive_episode()
std::vector<DrivenEgo> read_drive_episode(const DriveEvaluationPlan& plan, const DriveTask& task,
                                          const std::string& text);

/// Writes replay.html from the recordings of the first episode of each driver.
void write_drive_replay(const DriveEvaluationPlan& plan);

}  // namespace traffic::train
