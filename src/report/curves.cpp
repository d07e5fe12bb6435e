// Converts metrics into JSON for the charts of a report (curves.h).
#include "curves.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>
#include <vector>

namespace traffic::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostPoints = 300;  ///< maximum number of points of a line in a chart

/// Rounds to four significant digits, which are enough for a picture. Null if the value is not
/// finite.
Json short_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", value);
  return std::strtod(text, nullptr);
}

/// The chart that a metric belongs to, and its label there.
std::pair<std::string, std::string> place_of(const std::string& name) {
  static const std::regex kFrame("(.*)_frame([0-9]+)");
  std::smatch match;
  if (std::regex_match(name, match, kFrame)) return {match[1], "frame " + match[2].str()};
  if (name.starts_with("time_share/")) return {"time_share", name.substr(11)};
  if (name == "Metrics/CostLimit") return {"Metrics/EpCost", "limit"};
  return {name, name};
}

}  // namespace

Json curve(const std::string& label, const std::vector<SeriesPoint>& series) {
  Json x = Json::array();
  Json y = Json::array();
  const std::size_t points = std::min(series.size(), kMostPoints);
  for (std::size_t i = 0; i < points; ++i) {
    const std::size_t first = i * series.size() / points;
    const std::size_t end = (i + 1) * series.size() / points;
    double step = 0;
    double value = 0;
    for (std::size_t p = first; p < end; ++p) {
      step += static_cast<double>(series[p].step) / static_cast<double>(end - first);
      value += series[p].value / static_cast<double>(end - first);
    }
    x.push_back(end - first == 1 ? Json(series[first].step) : Json(std::round(step)));
    y.push_back(short_number(value));
  }
  return Json{{"label", label}, {"x", std::move(x)}, {"y", std::move(y)}};
}

Json all_curves(const Metrics& metrics) {
  using Series = std::map<std::string, std::vector<SeriesPoint>>;
  std::map<std::string, Series> charts;
  for (const MetricsRow& row : metrics.rows) {
    for (const auto& [name, value] : row.values) {
      const auto [chart, label] = place_of(name);
      charts[chart][label].push_back({.step = row.step, .value = value});
    }
  }
  Json groups = Json::object();
  for (const auto& [name, lines] : charts) {
    Json chart{{"kind", "lines"}, {"title", name}, {"x_label", "step"}, {"lines", Json::array()}};
    for (const auto& [label, series] : lines) chart["lines"].push_back(curve(label, series));
    groups[name.substr(0, name.find('/'))].push_back(std::move(chart));
  }
  return groups;
}

}  // namespace traffic::report
