/// Compares runs: their results, metrics, settings and failures. overview_of() reads a run from its
/// folder, and the other functions make texts or JSON of one or several runs.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "traffic/report/run_reader.h"

namespace traffic::report {

/// Statistics of a metric over all steps of a training. Values that are not finite are left out.
struct MetricSpan {
  std::int64_t count = 0;
  double minimum = 0;
  double mean = 0;
  double maximum = 0;
  double last = 0;
};

/// One training of a run; a run may consist of several.
struct PartOverview {
  std::string name;                  ///< name of its folder; empty in a run of one training
  nlohmann::ordered_json evaluated;  ///< row of the trained controller in evaluation.json, or null
  std::vector<nlohmann::ordered_json> others;  ///< rows of other controllers in evaluation.json
  nlohmann::ordered_json result;               ///< the object `result` of summary.json
  std::vector<SeriesPoint> gain;               ///< gain over no control, % ("eval/gain")
  std::map<std::string, MetricSpan> metrics;   ///< by name of the metric
};

struct RunOverview {
  std::string folder;
  std::string status;                           ///< as in to_string(RunStatus)
  double seconds = 0;                           ///< duration of the run
  std::map<std::string, std::string> settings;  ///< from key, e.g. "ppo.learning_rate", to the
                                                ///< text of its value in config.toml
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
/// A chart, drawn with characters, of the gains of all runs over their iterations. Empty if no run
/// has recorded gains.
std::string gain_chart_text(std::span<const RunOverview> runs);
nlohmann::ordered_json overview_json(std::span<const RunOverview> runs);

}  // namespace traffic::report
