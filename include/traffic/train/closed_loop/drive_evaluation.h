/// Drives the same vehicles of the same traffic with several drivers and compares them.
///
///     std::string compare(const DriveEvaluationPlan& plan) {
///       return drive_table(plan, run_drive_evaluation(plan)).to_text();
///     }
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "traffic/driving/drive_measures.h"
#include "traffic/driving/driver.h"
#include "traffic/report/table.h"
#include "traffic/sim/driving_env.h"
#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {

/// The driver that all others are compared with: SUMO's own.
inline constexpr const char* kSumoDriver = "sumo";

struct DriveEvaluationPlan {
  /// The first is kSumoDriver; others are such as idm, checkpoint:PATH.
  std::vector<std::string> drivers;
  std::vector<std::string> scenarios;  ///< .sumocfg files or names of shipped scenarios
  std::vector<std::uint64_t> seeds;
  sim::DrivingOptions traffic;  ///< options of every episode, except for the scenario
  int jobs = 1;                 ///< maximum number of processes at a time
  double silence_s = 120.0;     ///< an episode's process is ended if it is silent for this time
  /// Folder for replay.html, which shows the first scenario and seed under each driver. Empty:
  /// records nothing.
  std::filesystem::path replay_dir{};
  /// Folder for files of corrections. A correction is what SUMO's own driver would have done where
  /// another driver drove. A training reads these files beside recorded scenes. Empty: records no
  /// corrections.
  std::filesystem::path corrections_dir{};
};

/// An ego, a vehicle that the driver drives, of an episode.
struct DrivenEgo {
  std::size_t driver = 0;    ///< index in DriveEvaluationPlan::drivers
  std::size_t scenario = 0;  ///< index in DriveEvaluationPlan::scenarios
  std::uint64_t seed = 0;
  std::string name{};  ///< SUMO's name of the vehicle
  driving::DriveMeasures measures{};
};

/// @return null for kSumoDriver
/// @throws ConfigError if there is no driver of that name
/// @throws CheckpointError if a checkpoint contains no driving policy
std::unique_ptr<driving::Driver> make_driver(const std::string& name);

/// Puts kSumoDriver first and checks that every driver exists and none occurs twice.
/// @throws ConfigError
std::vector<std::string> drivers_to_compare(std::vector<std::string> names);

/// Runs every driver on every scenario and seed, each episode in a process of its own. If the
/// process dies or falls silent, its episode is run once more.
/// @return the egos episode by episode; under every driver they are the same vehicles
/// @throws ConfigError if the plan has no seeds or no scenarios
/// @throws Error that names the episode, with the exit code of its error, or ExitCode::kWorkers if
///     its process failed twice
std::vector<DrivenEgo> run_drive_evaluation(
    const DriveEvaluationPlan& plan,
    const std::function<void(const EvaluationProgress&)>& progress = {});

/// A row for each driver, with the mean over episodes of the score and its 95 % interval, and
/// measures over all egos.
report::Table drive_table(const DriveEvaluationPlan& plan, const std::vector<DrivenEgo>& egos);
/// A row for each pair of drivers: the paired differences of their scores and of their collisions
/// per kilometre, episode by episode, with 95 % intervals.
report::Table drive_differences(const DriveEvaluationPlan& plan,
                                const std::vector<DrivenEgo>& egos);
/// Settings, both tables, and the measures of each ego as one JSON object.
std::string drive_json(const DriveEvaluationPlan& plan, const std::vector<DrivenEgo>& egos);
/// A row for each ego.
std::string drive_csv(const DriveEvaluationPlan& plan, const std::vector<DrivenEgo>& egos);

}  // namespace traffic::train
