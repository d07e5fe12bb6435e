/// Converts metrics over steps into JSON that page/charts.js draws as charts of a report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "traffic/report/run_series.h"

namespace traffic::report {

/// A line of a chart: {"label", "x", "y"}. A series of more than 300 points is divided into 300
/// equal parts, and each part becomes one point, its mean.
nlohmann::ordered_json curve(const std::string& label, const std::vector<SeriesPoint>& series);

/// Charts of all metrics of a run, grouped by the word before the '/' in their names: {"eval":
/// [chart, ...], ...}. Metrics whose names differ only in "_frameN" share a chart, and so do all
/// "time_share/..." metrics, and the cost and its limit.
nlohmann::ordered_json all_curves(const Metrics& metrics);

}  // namespace traffic::report
