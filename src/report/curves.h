/// Metrics over steps in the form that page/charts.js draws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "traffic/report/run_series.h"

namespace traffic::report {

/// A line of a chart: label, x, y. A long series is shortened to means of equal parts.
nlohmann::ordered_json curve(const std::string& label, const std::vector<SeriesPoint>& series);

/// Every metric of a run in charts of lines, grouped by the first part of their names: {"eval":
/// [chart, ...], ...}. Metrics of several frames ahead, shares of time, and the cost with its limit
/// share a chart.
nlohmann::ordered_json all_curves(const Metrics& metrics);

}  // namespace traffic::report
