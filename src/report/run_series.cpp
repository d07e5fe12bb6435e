// Reads metrics.jsonl and episodes.csv, to which a run appends lines (run_series.h).
#include "traffic/report/run_series.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "traffic/core/atomic_file.h"

namespace traffic::report {
namespace {

namespace fs = std::filesystem;
using MetricsJson = nlohmann::ordered_json;  // keeps metrics in the order in which they were set

/// A function that parses a line. It returns why it cannot read the line; empty if it has read it.
using TakeLine = std::function<std::string(const std::string& line)>;

/// Calls `take` for every complete line and adds the lines that it cannot read to `damaged`.
/// @return whether the file ends in an incomplete line
bool read_lines(const fs::path& path, std::vector<std::string>& damaged, const TakeLine& take) {
  std::error_code error;
  if (!fs::exists(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw io_error("read", path, errno);
  std::int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    if (file.eof()) return true;  // the writer ends each line with a newline; this one has none
    ++number;
    const std::string wrong = take(line);
    if (!wrong.empty()) damaged.push_back(fmt::format("{}:{}: {}", path.string(), number, wrong));
  }
  return false;
}

std::optional<double> number_or_nan(const MetricsJson& value) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value.is_number()) return std::nullopt;
  return value.get<double>();
}

std::string take_metrics(const std::string& line, std::vector<MetricsRow>& rows) {
  const MetricsJson json = MetricsJson::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return "no JSON object";
  if (!json.contains("step") || !json["step"].is_number_integer()) return "no step";
  MetricsRow row{.step = json["step"].get<std::int64_t>(),
                 .time_s = std::numeric_limits<double>::quiet_NaN(),
                 .values = {}};
  for (const auto& [name, value] : json.items()) {
    if (name == "step") continue;
    const std::optional<double> number = number_or_nan(value);
    if (!number) return fmt::format("{} is {}, neither a number nor null", name, value.dump());
    if (name == "time") {
      row.time_s = *number;
    } else {
      row.values.emplace_back(name, *number);
    }
  }
  rows.push_back(std::move(row));
  return {};
}

/// Splits a line into fields, which may be quoted as in RFC 4180.
/// @return the fields; nullopt if a quotation mark is not closed
std::optional<std::vector<std::string>> split_csv(const std::string& line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (line[i] == '"') {
      is_quoted = !is_quoted;
    } else if (line[i] == ',' && !is_quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  if (is_quoted) return std::nullopt;
  return fields;
}

std::string take_episode(const std::string& line, Episodes& episodes) {
  std::optional<std::vector<std::string>> fields = split_csv(line);
  if (!fields) return "a quote that is not closed";
  if (episodes.columns.empty()) {
    episodes.columns = std::move(*fields);
  } else if (fields->size() != episodes.columns.size()) {
    return fmt::format("{} fields for {} columns", fields->size(), episodes.columns.size());
  } else {
    episodes.rows.push_back(std::move(*fields));
  }
  return {};
}

}  // namespace

std::vector<SeriesPoint> Metrics::series(std::string_view name) const {
  std::vector<SeriesPoint> points;
  for (const MetricsRow& row : rows) {
    for (const auto& [known, value] : row.values) {
      if (known == name) points.push_back({.step = row.step, .value = value});
    }
  }
  return points;
}

Metrics read_metrics(const fs::path& path) {
  Metrics metrics;
  metrics.ends_in_half_line = read_lines(path, metrics.damaged, [&](const std::string& line) {
    return take_metrics(line, metrics.rows);
  });
  return metrics;
}

Episodes read_episodes(const fs::path& path) {
  Episodes episodes;
  episodes.ends_in_half_line = read_lines(path, episodes.damaged, [&](const std::string& line) {
    return take_episode(line, episodes);
  });
  return episodes;
}

}  // namespace traffic::report
