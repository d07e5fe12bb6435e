/// A search over settings by successive halving (Jamieson and Talwalkar 2016, arXiv:1502.07943):
/// all trials are trained for a short time, and the better ones continue.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "traffic/tune/table.h"

namespace traffic::tune {

/// Settings and the result of training with them.
struct Trial {
  std::int64_t number = 0;
  std::vector<std::string> values;  ///< one for each of Table::choices
  std::int64_t budget = 0;  ///< budget of the last round that all of its seeds have finished
  std::map<std::int64_t, double> figure;  ///< Table::figure by training seed, after that round
  std::string failure;                    ///< why it was given up; empty: it was not given up

  [[nodiscard]] double mean() const;
};

/// The trials of a table, the same for the same table.
std::vector<Trial> draw_trials(const Table& table);

struct StudyOptions {
  std::int64_t jobs = 0;              ///< trainings at once; 0: as many as there are cores for
  std::optional<std::int64_t> trial;  ///< only the first round of this trial, for a job of an array
};

/// Runs the trainings of a table that are not finished yet. Finished ones, also those of jobs of an
/// array, are not repeated, and interrupted ones continue.
/// @throws ConfigError if traffic_train refuses a trial's settings, or if the folder has trainings
/// of other settings; ResourceError; Error with ExitCode::kStopped when a signal asked to stop, and
/// Error if no trial can be trained
std::vector<Trial> run_study(const Table& table, const StudyOptions& options);

/// A table with a row for each trial, the best first: settings, figure with its interval over
/// training seeds, paired difference to the best.
std::string study_text(const Table& table, const std::vector<Trial>& trials);
nlohmann::ordered_json study_json(const Table& table, const std::vector<Trial>& trials);

}  // namespace traffic::tune
