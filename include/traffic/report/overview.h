/// What of one run or of several is looked at together: results, figures, settings, trouble.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "traffic/report/run_reader.h"

namespace traffic::report {

/// A figure over a whole training; values that are not finite are left out.
struct FigureSpan {
  std::int64_t count = 0;
  double least = 0;
  double mean = 0;
  double most = 0;
  double last = 0;
};

/// One training of a run.
struct PartOverview {
  std::string name;                  ///< of its folder; empty for a run of one
  nlohmann::ordered_json evaluated;  ///< what was trained, a row of evaluation.json; null without
  std::vector<nlohmann::ordered_json> others;  ///< rows of what it was compared with
  nlohmann::ordered_json result;               ///< of summary.json
  std::vector<SeriesPoint> gain;               ///< over no control, % ("eval/gain")
  std::map<std::string, FigureSpan> figures;
};

struct RunOverview {
  std::string folder;
  std::string status;
  double seconds = 0;
  std::map<std::string, std::string> settings;  ///< "ppo.learning_rate" -> as config.toml has it
  std::vector<PartOverview> parts;
  std::vector<std::string> trouble;  ///< faults, warnings and errors of all ranks, slow steps
};

/// @throws DataError if a file is damaged
RunOverview overview_of(const RunReader& run);

/// Tables: a row a training, means with intervals where several runs have the same, settings in
/// which the runs differ, and what went wrong in each.
std::string overview_text(std::span<const RunOverview> runs);
/// Count, least, mean, most, and last of every figure.
std::string figures_text(std::span<const RunOverview> runs);
/// The gain over the iterations of all runs as characters; empty if none has any.
std::string gain_chart_text(std::span<const RunOverview> runs);
nlohmann::ordered_json overview_json(std::span<const RunOverview> runs);

}  // namespace traffic::report
