/// Figures over steps as what page/charts.js draws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "traffic/report/run_series.h"

namespace traffic::report {

/// A line of a chart: label, x, y; of a long series the means of equal shares of it.
nlohmann::ordered_json curve(const std::string& label, const std::vector<SeriesPoint>& series);

/// Every figure of a run in charts of lines: {"eval": [chart, ...], ...} by the first part of the
/// names. Figures of several frames ahead, shares of time, and the cost with its limit share one.
nlohmann::ordered_json all_curves(const Metrics& metrics);

}  // namespace traffic::report
