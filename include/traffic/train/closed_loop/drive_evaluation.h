/// Compares drivers: lets each of them drive the same vehicles in the same traffic. A driver is a
/// model that steers vehicles, such as SUMO's own, the intelligent driver model (idm) or a trained
/// one.
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
#include <string_view>
#include <vector>

#include "traffic/driving/drive_measures.h"
#include "traffic/driving/driver.h"
#include "traffic/report/table.h"
#include "traffic/sim/driving_env.h"
#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {

/// Name of SUMO's own driver, with which all other drivers are compared.
inline constexpr const char* kSumoDriver = "sumo";

/// A name with this prefix means the driver that the rest of the name names, with emergency braking
/// (driving::GuardedDriver).
inline constexpr std::string_view kGuarded = "guarded:";

struct DriveEvaluationPlan {
  /// Names of the drivers. The first one is kSumoDriver; examples of others are idm,
  /// checkpoint:PATH and guarded:checkpoint:PATH.
  std::vector<std::string> drivers;
  std::vector<std::string> scenarios;  ///< .sumocfg files or names of shipped scenarios
  std::vector<std::uint64_t> seeds;
  sim::DrivingOptions traffic;  ///< options of every episode, except for the scenario
  int jobs = 1;                 ///< maximum number of processes at a time
  /// The process of an episode is killed if it reports nothing for this time.
  double silence_s = 120.0;
  /// Folder for replay.html, which shows the first scenario and seed under each driver. If it is
  /// empty, nothing is recorded.
  std::filesystem::path replay_dir{};
  /// Folder for files of corrections. A correction is what SUMO's own driver would have done where
  /// another driver drove. A training can read these files together with recorded scenes. If the
  /// folder is empty, no corrections are recorded.
  std::filesystem::path corrections_dir{};
};

/// Result of one ego in one episode. An ego is a vehicle that the compared driver drives.
struct DrivenEgo {
  std::size_t driver = 0;    ///< index in DriveEvaluationPlan::drivers
  std::size_t scenario = 0;  ///< index in DriveEvaluationPlan::scenarios
  std::uint64_t seed = 0;
  std::string name{};  ///< SUMO's name of the vehicle
  driving::DriveMeasures measures{};
};

/// Makes a driver from its name.
/// @return null for kSumoDriver
/// @throws ConfigError if there is no driver of that name, or for kGuarded before kSumoDriver
/// @throws CheckpointError if a checkpoint contains no driving policy
std::unique_ptr<driving::Driver> make_driver(const std::string& name);

/// Puts kSumoDriver first in the list. Checks that every driver exists and that none occurs twice.
/// @throws ConfigError
std::vector<std::string> drivers_to_compare(std::vector<std::string> names);

/// Runs every driver on every scenario and seed, each episode in a process of its own. If the
/// process dies or falls silent, its episode is run once more.
/// @return the egos, episode by episode; the egos of a scenario and seed are the same vehicles
///   under every driver
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
