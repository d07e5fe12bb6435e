/// Reads the table of a search over settings: a TOML file in which users say which settings to try
/// and how (docs/guide/tuning.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace traffic::tune {

/// A key of the configuration and the values that trials may give it.
struct Choice {
  std::string key;                  ///< name of the key, for --set
  std::vector<std::string> values;  ///< possible values; if empty, numbers from low to high
  double low = 0;                   ///< minimum, if there are no `values`
  double high = 0;                  ///< maximum, if there are no `values`
  bool logarithmic = false;         ///< whether the logarithm of the number is drawn uniformly
  bool whole = false;               ///< whether the number is an integer
};

struct Table {
  std::string config;           ///< configuration file of traffic_train
  std::string dir;              ///< folder of the trainings
  bool grid = false;            ///< true: all combinations; false: `trials` random trials
  std::int64_t trials = 8;      ///< number of random trials
  std::uint64_t seed = 1;       ///< seed of the random trials
  std::string figure = "gain";  ///< result to compare: name of a number in `result` of summary.json
  bool largest = true;          ///< whether a larger figure is better
  std::string budget_key = "training.iterations";  ///< key that limits the length of a training
  std::vector<std::int64_t> budgets{10, 20, 40};   ///< value of that key in each round, rising
  double keep_share = 0.5;  ///< share of the trials that go on to the next round
  std::vector<std::int64_t> training_seeds{42};  ///< each trial is trained with each of them
  std::int64_t ranks = 1;                        ///< MPI ranks of a training
  std::vector<std::string> set;                  ///< "key=value" for all trials
  std::vector<Choice> choices;
};

/// @throws ConfigError with file and line of each mistake
Table read_table(const std::filesystem::path& file);

}  // namespace traffic::tune
