// The functions of overview.h that turn the comparison of runs into text and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "traffic/report/overview.h"
#include "traffic/report/paired_statistics.h"
#include "traffic/report/table.h"

namespace traffic::report {
namespace {

using Json = nlohmann::ordered_json;
using Cell = Table::Cell;

constexpr std::size_t kChartColumns = 72;
constexpr std::size_t kChartRows = 14;
constexpr std::string_view kMarks = "*o+x#@%&";

Cell number_of(const Json& row, const char* name) {
  if (!row.is_object() || !row.contains(name) || !row[name].is_number()) return {};
  return row[name].get<double>();
}

Cell best_gain(const PartOverview& part) {
  if (part.gain.empty()) return {};
  return std::ranges::max_element(part.gain, {}, &SeriesPoint::value)->value;
}

/// The trainings of several runs by name, for example of runs with different training seeds.
std::map<std::string, std::vector<const PartOverview*>> by_name(std::span<const RunOverview> runs) {
  std::map<std::string, std::vector<const PartOverview*>> parts;
  for (const RunOverview& run : runs) {
    for (const PartOverview& part : run.parts) parts[part.name].push_back(&part);
  }
  return parts;
}

constexpr const char* kEvaluated[] = {"gain_%", "outflow_vph", "mean_speed_mps", "collisions",
                                      "hard_brakes"};

/// A number from the evaluation of a training. Without an evaluation, a number from its result in
/// summary.json.
Cell result_of(const PartOverview& part, const std::string& name) {
  return number_of(part.evaluated.is_null() ? part.result : part.evaluated, name.c_str());
}

/// The names of the numbers that result_of() finds for a training.
std::vector<std::string> names_of_results(const PartOverview& part) {
  if (!part.evaluated.is_null()) return {std::begin(kEvaluated), std::end(kEvaluated)};
  std::vector<std::string> names;
  for (const auto& [name, value] : part.result.items()) {
    if (value.is_number()) names.push_back(name);
  }
  return names;
}

Table means_table(std::span<const RunOverview> runs) {
  Table table({"training", "metric", "runs", "mean", "+-95%", "min", "max"});
  for (const auto& [name, parts] : by_name(runs)) {
    for (const std::string& metric : names_of_results(*parts.front())) {
      std::vector<double> values;
      for (const PartOverview* part : parts) {
        const Cell value = result_of(*part, metric);
        if (const double* known = std::get_if<double>(&value)) values.push_back(*known);
      }
      if (values.size() < 2) continue;
      const MeanInterval mean = mean_interval(values);
      table.add_row({name, metric, mean.count, mean.mean, mean.half_width, mean.least, mean.most});
    }
  }
  return table;
}

/// A column for each run, and a row for each key in which the runs differ.
Table settings_table(std::span<const RunOverview> runs) {
  std::vector<std::string> columns{"setting"};
  std::set<std::string> keys;
  for (const RunOverview& run : runs) {
    columns.push_back(run.folder);
    for (const auto& [key, value] : run.settings) keys.insert(key);
  }
  Table table(columns);
  for (const std::string& key : keys) {
    std::set<std::string> values;
    std::vector<Cell> row{key};
    for (const RunOverview& run : runs) {
      const auto found = run.settings.find(key);
      values.insert(found == run.settings.end() ? "" : found->second);
      row.push_back(found == run.settings.end() ? Cell{} : Cell{found->second});
    }
    if (values.size() > 1) table.add_row(std::move(row));
  }
  return table;
}

/// Adds a row with the numbers of a controller.
/// @param row the first cells of the row, before the numbers
/// @param evaluated a row of evaluation.json
void add_result(Table& table, std::vector<Cell> row, const Json& evaluated) {
  for (const char* name :
       {"gain_%", "+-95%", "worst_%", "outflow_vph", "collisions", "hard_brakes"}) {
    row.push_back(number_of(evaluated, name));
  }
  table.add_row(std::move(row));
}

Table results_table(std::span<const RunOverview> runs) {
  Table table({"run", "status", "seconds", "training", "best_gain_%", "gain_%", "+-95%", "worst_%",
               "outflow_vph", "collisions", "hard_brakes"});
  for (const RunOverview& run : runs) {
    for (const PartOverview& part : run.parts) {
      add_result(table, {run.folder, run.status, run.seconds, part.name, best_gain(part)},
                 part.evaluated);
    }
  }
  // The rows of other controllers follow. If several runs have the same row, it appears once.
  std::set<std::string> added;
  for (const RunOverview& run : runs) {
    for (const PartOverview& part : run.parts) {
      for (const Json& row : part.others) {
        if (!added.insert(part.name + row.dump()).second) continue;
        add_result(table, {row.value("controller", ""), "", {}, part.name, {}}, row);
      }
    }
  }
  return table;
}

}  // namespace

std::string overview_text(std::span<const RunOverview> runs) {
  std::string text = results_table(runs).to_text();
  if (const Table means = means_table(runs); means.num_rows() > 0) {
    text += "\nmeans over the runs, with 95 % intervals\n" + means.to_text();
  }
  if (const Table settings = settings_table(runs); settings.num_rows() > 0) {
    text += "\nsettings in which the runs differ\n" + settings.to_text();
  }
  for (const RunOverview& run : runs) {
    if (run.trouble.empty()) continue;
    text += fmt::format("\nfaults, warnings and errors in {}\n", run.folder);
    for (const std::string& line : run.trouble) text += "  " + line + "\n";
  }
  return text;
}

std::string metrics_text(std::span<const RunOverview> runs) {
  Table table({"run", "training", "metric", "count", "min", "mean", "max", "last"});
  for (const RunOverview& run : runs) {
    for (const PartOverview& part : run.parts) {
      for (const auto& [name, span] : part.metrics) {
        table.add_row({run.folder, part.name, name, span.count, span.minimum, span.mean,
                       span.maximum, span.last});
      }
    }
  }
  return table.to_text();
}

std::string gain_chart_text(std::span<const RunOverview> runs) {
  std::vector<std::pair<std::string, const std::vector<SeriesPoint>*>> curves;
  double low = 0;
  double high = 0;
  std::int64_t steps = 1;
  for (const RunOverview& run : runs) {
    for (const PartOverview& part : run.parts) {
      if (part.gain.empty()) continue;
      curves.emplace_back(part.name.empty() ? run.folder : run.folder + ", " + part.name,
                          &part.gain);
      for (const SeriesPoint& point : part.gain) {
        if (!std::isfinite(point.value)) continue;
        low = std::min(low, point.value);
        high = std::max(high, point.value);
        steps = std::max(steps, point.step);
      }
    }
  }
  if (curves.empty()) return "";
  if (high <= low) high = low + 1;
  std::vector<std::string> rows(kChartRows, std::string(kChartColumns, ' '));
  const auto row_of = [&](double gain) {
    const double share = (high - gain) / (high - low);
    return static_cast<std::size_t>(std::lround(share * static_cast<double>(kChartRows - 1)));
  };
  rows[row_of(0)].assign(kChartColumns, '-');
  for (std::size_t c = 0; c < curves.size(); ++c) {
    for (const SeriesPoint& point : *curves[c].second) {
      if (!std::isfinite(point.value)) continue;
      const auto column = static_cast<std::size_t>(point.step) * (kChartColumns - 1) /
                          static_cast<std::size_t>(steps);
      rows[row_of(point.value)][column] = kMarks[c % kMarks.size()];
    }
  }
  std::string text = "gain over no control, %\n";
  for (std::size_t r = 0; r < kChartRows; ++r) {
    const double at =
        high - (high - low) * static_cast<double>(r) / static_cast<double>(kChartRows - 1);
    text += fmt::format("{:>8.2f} |{}\n", at, rows[r]);
  }
  text += fmt::format("{:>8} 0{:>{}}  iteration\n", "", steps, kChartColumns - 1);
  for (std::size_t c = 0; c < curves.size(); ++c) {
    text += fmt::format("  {} {}\n", kMarks[c % kMarks.size()], curves[c].first);
  }
  return text;
}

Json overview_json(std::span<const RunOverview> runs) {
  Json all{{"runs", Json::array()}};
  for (const RunOverview& run : runs) {
    Json parts = Json::array();
    for (const PartOverview& part : run.parts) {
      Json metrics = Json::object();
      for (const auto& [name, span] : part.metrics) {
        metrics[name] = Json{{"count", span.count},
                             {"min", span.minimum},
                             {"mean", span.mean},
                             {"max", span.maximum},
                             {"last", span.last}};
      }
      parts.push_back(Json{
          {"training", part.name}, {"evaluated", part.evaluated}, {"metrics", std::move(metrics)}});
    }
    all["runs"].push_back(Json{{"run", run.folder},
                               {"status", run.status},
                               {"seconds", run.seconds},
                               {"trouble", run.trouble},
                               {"trainings", std::move(parts)}});
  }
  all["means"] = Json::parse(means_table(runs).to_json());
  all["settings"] = Json::parse(settings_table(runs).to_json());
  return all;
}

}  // namespace traffic::report
