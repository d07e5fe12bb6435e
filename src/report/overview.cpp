// Reads the results, metrics, settings and failures of a run from its folder (overview.h).
#include "traffic/report/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

#include "pictures.h"

namespace traffic::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Reads config.toml. This program wrote the file with one table or one key on each line, so a TOML
/// parser is not needed.
std::map<std::string, std::string> settings_of(const fs::path& file) {
  std::map<std::string, std::string> settings;
  std::string table;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('[') && line.ends_with(']')) {
      table = line.substr(1, line.size() - 2) + ".";
    } else if (const auto at = line.find(" = "); at != std::string::npos && line[0] != '#') {
      settings[table + line.substr(0, at)] = line.substr(at + 3);
    }
  }
  return settings;
}

std::map<std::string, MetricSpan> spans_of(const Metrics& metrics) {
  std::map<std::string, MetricSpan> spans;
  for (const MetricsRow& row : metrics.rows) {
    for (const auto& [name, value] : row.values) {
      if (!std::isfinite(value)) continue;
      MetricSpan& span = spans[name];
      span.minimum = span.count == 0 ? value : std::min(span.minimum, value);
      span.maximum = span.count == 0 ? value : std::max(span.maximum, value);
      span.mean += value;
      span.last = value;
      ++span.count;
    }
  }
  for (auto& [name, span] : spans) span.mean /= static_cast<double>(span.count);
  return spans;
}

/// Adds the lines of error.log. If several lines differ only in their numbers, adds the first of
/// them with a count.
void add_messages(std::vector<std::string>& trouble, const fs::path& file) {
  static const std::regex kWhen("^[0-9-]{10}T[0-9:.]+Z ");
  static const std::regex kNumber("[0-9]+([.][0-9]+)?");
  std::map<std::string, std::size_t> seen;
  std::vector<std::pair<std::string, int>> messages;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    line = std::regex_replace(line, kWhen, "");
    if (line.empty()) continue;
    const auto [at, is_new] = seen.emplace(std::regex_replace(line, kNumber, "#"), messages.size());
    if (is_new) messages.emplace_back(line, 0);
    ++messages[at->second].second;
  }
  for (const auto& [line, count] : messages) {
    trouble.push_back(count == 1 ? line : fmt::format("{} ({} times)", line, count));
  }
}

void add_faults(std::vector<std::string>& trouble, const Json& summary) {
  const Json faults = summary.value("faults", Json::object());
  for (const auto& [name, count] : faults.items()) {
    if (count.is_number() && count.get<double>() > 0) {
      trouble.push_back(fmt::format("{}: {}", name, count.dump()));
    }
  }
}

/// Adds a message if steps took more than three times the median duration.
void add_slow_steps(std::vector<std::string>& trouble, const std::string& part,
                    const Metrics& metrics) {
  constexpr double kSlow = 3.0;
  constexpr std::size_t kFewest = 5;
  for (const char* name : {"time/step_s", "time/iteration_s"}) {
    const auto series = metrics.series(name);
    if (series.size() < kFewest) continue;
    std::vector<double> values;
    for (const SeriesPoint& point : series) values.push_back(point.value);
    std::ranges::nth_element(values,
                             values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    const double median = values[values.size() / 2];
    const auto slowest = std::ranges::max_element(series, {}, &SeriesPoint::value);
    const auto slow = std::ranges::count_if(
        series, [&](const SeriesPoint& point) { return point.value > kSlow * median; });
    if (slow == 0) continue;
    trouble.push_back(
        fmt::format("{}{} exceeded {:.3g} s (three times its median) {} times; its "
                    "maximum is {:.3g} s at step {}",
                    part.empty() ? "" : part + ": ", name, kSlow * median, slow, slowest->value,
                    slowest->step));
  }
}

PartOverview part_of(const RunReader& run, const std::string& name, RunOverview& whole) {
  const Metrics metrics = run.metrics();
  PartOverview part{
      .name = name,
      .evaluated = nullptr,
      .others = {},
      .result = run.summary().value_or(Json::object()).value("result", Json::object()),
      .gain = metrics.series("eval/gain"),
      .metrics = spans_of(metrics)};
  for (const Json& evaluation : evaluations_of(run)) {
    if (!part.evaluated.is_null()) break;  // only the first of several scenarios is shown
    for (const Json& row : evaluation["controllers"]) {
      if (!row.value("controller", "").starts_with("checkpoint:")) {
        part.others.push_back(row);
      } else if (part.evaluated.is_null()) {
        part.evaluated = row;
      }
    }
  }
  add_slow_steps(whole.trouble, name, metrics);
  return part;
}

}  // namespace

RunOverview overview_of(const RunReader& run) {
  RunOverview whole{.folder = run.folder().root().string(),
                    .status = std::string(to_string(run.status())),
                    .settings = settings_of(run.folder().config()),
                    .parts = {},
                    .trouble = {}};
  const Json summary = run.summary().value_or(Json::object());
  if (summary.contains("seconds") && summary["seconds"].is_number()) {
    whole.seconds = summary["seconds"];
  }
  const std::string message = summary.value("message", "");
  if (!message.empty()) whole.trouble.push_back(message);
  add_faults(whole.trouble, summary);
  add_messages(whole.trouble, run.folder().logs() / "error.log");
  for (const RunReader& part : run.parts()) {
    whole.parts.push_back(part_of(part, part.folder().root().filename().string(), whole));
  }
  if (whole.parts.empty()) whole.parts.push_back(part_of(run, "", whole));
  return whole;
}

}  // namespace traffic::report
