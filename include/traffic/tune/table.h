/// What a search over settings tries: a table in TOML (docs/guide/tuning.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace traffic::tune {

/// A key of the configuration and what it may be.
struct Choice {
  std::string key;                  ///< as --set takes it
  std::vector<std::string> values;  ///< one of these; empty: a number of a range
  double low = 0;
  double high = 0;
  bool logarithmic = false;  ///< evenly over the orders of magnitude
  bool whole = false;        ///< a whole number
};

struct Table {
  std::string config;           ///< of traffic_train
  std::string dir;              ///< where the runs lie
  bool grid = false;            ///< all combinations; else `trials` random ones
  std::int64_t trials = 8;      ///< of random search
  std::uint64_t seed = 1;       ///< of random search
  std::string figure = "gain";  ///< of summary.json's result, after each round
  bool largest = true;          ///< whether more of it is better
  std::string budget_key = "ppo.iterations";
  std::vector<std::int64_t> budgets{10, 20, 40};  ///< of that key, a round each, growing
  double keep_share = 0.5;                        ///< of the trials go on into the next round
  std::vector<std::int64_t> training_seeds{42};   ///< each trial is trained with each
  std::int64_t ranks = 1;                         ///< of a training
  std::vector<std::string> set;                   ///< "key=value" for all trials
  std::vector<Choice> choices;
};

/// @throws ConfigError with file and line of each thing that is wrong
Table read_table(const std::filesystem::path& file);

}  // namespace traffic::tune
