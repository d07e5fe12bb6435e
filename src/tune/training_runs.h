/// Trainings as programs of their own, some side by side.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "traffic/tune/table.h"

namespace traffic::tune {

/// One training of a trial up to a budget.
struct TrainingRun {
  std::filesystem::path dir;  ///< of the run; what it says goes to DIR.log
  std::int64_t seed = 0;
  std::int64_t budget = 0;
  std::vector<std::string> settings;  ///< "key=value"
  double figure = 0;                  ///< what came out
  std::string failure;                ///< empty: it went well
};

/// Asks traffic_train what it would make of these settings.
/// @throws ConfigError with its words
void check_settings(const Table& table, const std::vector<std::string>& settings);

/// Trains those that have not been trained so far, `jobs` at once; figures and failures are filled
/// in. A finished training leaves DIR.json with its budget and figure.
/// @param done called after each with how many are
/// @throws Error with ExitCode::kStopped after all have saved and ended; ResourceError
void train_all(const Table& table, std::vector<TrainingRun>& runs, std::int64_t jobs,
               const std::function<void(std::size_t done)>& done);

}  // namespace traffic::tune
