/// Runs trainings as separate programs, several at the same time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "traffic/tune/table.h"

namespace traffic::tune {

/// One training of a trial (one combination of settings), with one seed and up to a budget.
struct TrainingRun {
  std::filesystem::path dir;  ///< folder of the run; its output goes to DIR.log
  std::int64_t seed = 0;
  std::int64_t budget = 0;            ///< length of the training, as a value of Table::budget_key
  std::vector<std::string> settings;  ///< "key=value"
  double figure = 0;                  ///< the metric of its result that the search compares
  std::string failure;                ///< why it failed; empty if it succeeded
};

/// Lets traffic_train check these settings without training.
/// @return the whole configuration that they lead to, in TOML, without the budget
/// @throws ConfigError with the message of traffic_train
std::string check_settings(const Table& table, const std::vector<std::string>& settings);

/// Stores the configuration of a trial in its folder, so that a later search can compare it with
/// its own.
/// @throws ConfigError naming the first difference if the folder has trainings with another
///   configuration
void keep_configuration(const std::filesystem::path& trial_dir, const std::string& configuration);

/// Trains the runs that are not trained yet, `jobs` at once, and fills in their members `figure`
/// and `failure`. A finished training writes its budget and the numbers of its result to DIR.json.
/// @param done called after each training with the number of finished trainings
/// @throws Error with ExitCode::kStopped if a signal has requested a stop. It is thrown after all
///   trainings have saved and ended
/// @throws ResourceError if a training cannot be started
void train_all(const Table& table, std::vector<TrainingRun>& runs, std::int64_t jobs,
               const std::function<void(std::size_t done)>& done);

}  // namespace traffic::tune
