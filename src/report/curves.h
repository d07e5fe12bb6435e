/// Metrics over steps in the form that page/charts.js draws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "traffic/report/run_series.h"

namespace traffic::report {

/// A line of a chart: label, x, y. A long series is divided into equal parts, whose means are
/// shown.
nlohmann::ordered_json curve(const std::string& label, const std::vector<SeriesPoint>& series);

/// Charts of all metrics of a run, grouped by the first part of their names: {"eval": [chart, ...],
/// ...}. Some metrics share a chart: those that differ only in the number of frames ahead, the
/// shares of time, and the cost with its limit.
nlohmann::ordered_json all_curves(const Metrics& metrics);

}  // namespace traffic::report
