/// Compares runs: their results, metrics, settings and failures.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "traffic/report/run_reader.h"

namespace traffic::report {

/// Statistics of a metric over a training; values that are not finite do not count.
struct MetricSpan {
  std::int64_t count = 0;
  double minimum = 0;
  double mean = 0;
  double maximum = 0;
  double last = 0;
};

/// One training of a run.
struct PartOverview {
  std::string name;                  ///< name of its folder; empty in a run of one training
  nlohmann::ordered_json evaluated;  ///< row of the trained controller in evaluation.json, or null
  std::vector<nlohmann::ordered_json> others;  ///< rows of the other controllers in that file
  nlohmann::ordered_json result;               ///< the object `result` of summary.json
  std::vector<SeriesPoint> gain;               ///< gain over no control, % ("eval/gain")
  std::map<std::string, MetricSpan> metrics;   ///< by name of the metric
};

struct RunOverview {
  std::string folder;
  std::string status;                           ///< as in to_string(RunStatus)
  double seconds = 0;                           ///< duration of the run
  std::map<std::string, std::string> settings;  ///< "ppo.learning_rate" -> its text in config.toml
  std::vector<PartOverview> parts;
  std::vector<std::string> trouble;  ///< faults, warnings and errors of all ranks, and slow steps
};

/// Reads the overview of a run from its files.
/// @throws DataError if a file is damaged
RunOverview overview_of(const RunReader& run);

/// Text with these tables: the results of each training, their means with intervals if several runs
/// have the same training, the settings in which the runs differ, and the failures of each run.
std::string overview_text(std::span<const RunOverview> runs);
/// A table with count, minimum, mean, maximum and last value of every metric.
std::string metrics_text(std::span<const RunOverview> runs);
/// A chart, drawn with characters, of the gains of all runs over their iterations; empty without
/// gains.
std::string gain_chart_text(std::span<const RunOverview> runs);
nlohmann::ordered_json overview_json(std::span<const RunOverview> runs);

}  // namespace traffic::report
