/// A search over settings by successive halving (Jamieson and Talwalkar 2016, arXiv:1502.07943):
/// all trials are trained a little, the better ones go on from where they are.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "traffic/tune/table.h"

namespace traffic::tune {

/// Settings that are tried, and what came out.
struct Trial {
  std::int64_t number = 0;
  std::vector<std::string> values;        ///< one for each of Table::choices
  std::int64_t budget = 0;                ///< of the last round that all of its seeds have finished
  std::map<std::int64_t, double> figure;  ///< by training seed, after that round
  std::string failure;                    ///< why it was given up; empty: it was not

  [[nodiscard]] double mean() const;
};

/// The trials of a table, the same for the same table.
std::vector<Trial> draw_trials(const Table& table);

struct StudyOptions {
  std::int64_t jobs = 0;              ///< trainings at once; 0: as many as there are cores for
  std::optional<std::int64_t> trial;  ///< only this one, its first round: a job of an array
};

/// Trains what has not been trained yet. A training that was finished before, here or in a job of
/// an array, is not repeated; one that was interrupted goes on.
/// @throws ConfigError if traffic_train refuses a trial's settings; ResourceError; Error with
/// ExitCode::kStopped when a signal asked to stop, and Error if no trial can be trained
std::vector<Trial> run_study(const Table& table, const StudyOptions& options);

/// A row a trial, the best first: settings, figure with its interval over training seeds, paired
/// difference to the best.
std::string study_text(const Table& table, const std::vector<Trial>& trials);
nlohmann::ordered_json study_json(const Table& table, const std::vector<Trial>& trials);

}  // namespace traffic::tune
