/// A search over settings by successive halving (Jamieson and Talwalkar 2016, arXiv:1502.07943):
/// all trials are trained for a short time (the first round), and in each further round only the
/// better ones are trained on. The budget of a round is the length of the trainings until its end.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "traffic/tune/table.h"

namespace traffic::tune {

/// A choice of settings, and the results of training with them.
struct Trial {
  std::int64_t number = 0;
  std::vector<std::string> values;        ///< one for each of Table::choices
  std::int64_t budget = 0;                ///< budget of the last round in which it was trained
  std::map<std::int64_t, double> figure;  ///< by training seed: the number that Table::figure
                                          ///< names, after that round
  std::string failure;                    ///< why the trial was given up; empty if it was not

  /// Mean of `figure` over the training seeds.
  [[nodiscard]] double mean() const;
};

/// Draws the trials of a table. The same table always gives the same trials.
std::vector<Trial> draw_trials(const Table& table);

struct StudyOptions {
  std::int64_t jobs = 0;              ///< trainings at the same time; 0 means as many as the cores
                                      ///< allow
  std::optional<std::int64_t> trial;  ///< runs only the first round of this trial, as one job of a
                                      ///< job array of a cluster
};

/// Runs the trainings of a table that are not finished yet. Finished trainings are not repeated,
/// even if jobs of a job array have run them. Interrupted trainings are continued.
/// @throws ConfigError if traffic_train refuses a trial's settings, or if the folder has trainings
/// of other settings; ResourceError if a file cannot be written or a training cannot be started;
/// Error with ExitCode::kStopped if a signal asked to stop; Error if no trial can be trained
std::vector<Trial> run_study(const Table& table, const StudyOptions& options);

/// A table with a row for each trial, the best first. A row has the settings, the mean result over
/// the training seeds with its confidence interval, and the paired difference to the best trial.
std::string study_text(const Table& table, const std::vector<Trial>& trials);
nlohmann::ordered_json study_json(const Table& table, const std::vector<Trial>& trials);

}  // namespace traffic::tune
