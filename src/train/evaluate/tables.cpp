/// Converts the results of an evaluation to tables, CSV and JSON.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "evaluate/figures.h"
#include "traffic/core/error.h"
#include "traffic/report/paired_statistics.h"
#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {
namespace {

using Cell = report::Table::Cell;

/// Quotes a field of a CSV file if necessary.
std::string csv_field(std::string text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '"');
  }
  return '"' + text + '"';
}

/// Mean of a metric over the episodes of a controller; for the metric max_controlled, its maximum.
double summary_of(const EvaluationPlan& plan, const Episodes& episodes, std::size_t controller,
                  const Figure& figure) {
  const auto values = values_of(plan, episodes, controller, figure.of);
  const report::MeanInterval mean = report::mean_interval(values);
  return std::string_view(figure.name) == "max_controlled" ? mean.most : mean.mean;
}

/// Which columns a table has: kNarrow, only those of overview_table(); kAll, every column.
enum class Columns { kNarrow, kAll };

/// The objectives whose gains comparison_table() shows beside those of env.objective.
std::vector<scene::Objective> compared_objectives(const EvaluationPlan& plan) {
  std::vector<scene::Objective> compared{scene::Objective::kThroughput, scene::Objective::kDelay};
  if (measures_emissions(plan)) {
    compared.push_back(scene::Objective::kCo2);
    compared.push_back(scene::Objective::kElectricity);
  }
  return compared;
}

std::vector<std::string> gain_columns(const EvaluationPlan& plan, Columns which) {
  std::vector<std::string> columns{"gain_%", "+-95%", "worst_%"};
  if (which == Columns::kAll) {
    for (const scene::Objective& each : compared_objectives(plan)) {
      columns.push_back(fmt::format("{}_gain_%", scene::name_of(each)));
      columns.push_back(fmt::format("{}_gain_+-95%", scene::name_of(each)));
    }
  }
  return columns;
}

/// Mean gain in the objective, its interval and its worst seed. If all columns are wanted, the
/// gains in the other scores follow. The cells are empty for `none`, and for all controllers if the
/// plan does not contain `none`.
std::vector<Cell> gain_cells(const EvaluationPlan& plan, const Episodes& episodes,
                             std::size_t controller, Columns which) {
  const auto none = index_of_none(plan);
  if (!none || *none == controller) return std::vector<Cell>(gain_columns(plan, which).size());
  const report::MeanInterval gain =
      report::mean_interval(gains_of(plan, episodes, controller, *none));
  std::vector<Cell> cells{gain.mean, gain.half_width, gain.least};
  if (which == Columns::kAll) {
    for (const scene::Objective& each : compared_objectives(plan)) {
      const auto one = report::mean_interval(gains_of(plan, episodes, controller, *none, each));
      cells.emplace_back(one.mean);
      cells.emplace_back(one.half_width);
    }
  }
  return cells;
}

const char* column_name(const Figure& figure, Columns which) {
  return which == Columns::kAll ? figure.name : figure.label;
}

/// A table with a row for each controller: its name, its gains, and the metrics that have a column
/// in this table.
report::Table table_of(const EvaluationPlan& plan, const Episodes& episodes, Columns which) {
  std::vector<std::string> columns = gain_columns(plan, which);
  columns.insert(columns.begin(), "controller");
  for (const Figure& figure : figures(plan)) {
    if (const char* name = column_name(figure, which)) columns.emplace_back(name);
  }
  report::Table table(columns);
  for (std::size_t c = 0; c < plan.controllers.size(); ++c) {
    const std::string& name = plan.controllers[c];
    std::vector<Cell> row{which == Columns::kAll ? name : short_name(name)};
    const auto gain = gain_cells(plan, episodes, c, which);
    row.insert(row.end(), gain.begin(), gain.end());
    for (const Figure& figure : figures(plan)) {
      if (column_name(figure, which) == nullptr) continue;
      row.emplace_back(summary_of(plan, episodes, c, figure));
    }
    table.add_row(std::move(row));
  }
  return table;
}

}  // namespace

std::string short_name(const std::string& controller) {
  constexpr std::size_t kWidth = 30;
  if (controller.size() <= kWidth) return controller;
  return "..." + controller.substr(controller.size() - kWidth + 3);
}

report::Table comparison_table(const EvaluationPlan& plan, const Episodes& episodes) {
  return table_of(plan, episodes, Columns::kAll);
}

report::Table overview_table(const EvaluationPlan& plan, const Episodes& episodes) {
  return table_of(plan, episodes, Columns::kNarrow);
}

report::Table difference_table(const EvaluationPlan& plan, const Episodes& episodes) {
  report::Table table({"controller", "against", "difference_of_gains", "+-95%", "pairs"});
  const auto none = index_of_none(plan);
  if (!none) return table;
  for (std::size_t a = 0; a < plan.controllers.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (a == *none || b == *none) continue;
      std::vector<double> difference = gains_of(plan, episodes, a, *none);
      const std::vector<double> other = gains_of(plan, episodes, b, *none);
      for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= other[i];
      const report::MeanInterval mean = report::mean_interval(difference);
      table.add_row({short_name(plan.controllers[a]), short_name(plan.controllers[b]), mean.mean,
                     mean.half_width, mean.count});
    }
  }
  return table;
}

std::string episodes_csv(const EvaluationPlan& plan, const Episodes& episodes, bool with_header) {
  std::string text;
  if (with_header) {
    text = "scenario,controller,seed";
    for (const Figure& figure : figures(plan)) text += fmt::format(",{}", figure.name);
    text += '\n';
  }
  for (const EvaluatedEpisode& episode : episodes) {
    text += fmt::format("{},{},{}", csv_field(plan.config.env.scenario),
                        csv_field(plan.controllers[episode.controller]), episode.seed);
    for (const Figure& figure : figures(plan)) text += fmt::format(",{}", figure.of(episode));
    text += '\n';
  }
  return text;
}

std::string evaluation_json(const EvaluationPlan& plan, const Episodes& episodes) {
  using nlohmann::ordered_json;
  ordered_json all;
  all["scenario"] = plan.config.env.scenario;
  all["objective"] = scene::name_of(scene::objective_of(plan.config.env.objective));
  all["demand_scale"] = plan.demand_scale;
  all["seeds"] = plan.seeds;
  all["controllers"] = ordered_json::parse(comparison_table(plan, episodes).to_json());
  const auto verdicts = judge_controllers(plan, episodes);
  for (std::size_t c = 0; c < verdicts.size(); ++c) {
    all["controllers"][c]["safe"] = verdicts[c].safe();
    all["controllers"][c]["best"] = verdicts[c].best;
    all["controllers"][c]["level_with_best"] = verdicts[c].level && !verdicts[c].undecided;
  }
  all["differences"] = ordered_json::parse(difference_table(plan, episodes).to_json());
  ordered_json rows = ordered_json::array();
  for (const EvaluatedEpisode& episode : episodes) {
    ordered_json row{{"controller", plan.controllers[episode.controller]}, {"seed", episode.seed}};
    for (const Figure& figure : figures(plan)) {
      const double value = figure.of(episode);
      if (figure.whole) {
        row[figure.name] = static_cast<std::int64_t>(value);
      } else {
        row[figure.name] = value;
      }
    }
    rows.push_back(std::move(row));
  }
  all["episodes"] = std::move(rows);
  return all.dump(2) + "\n";
}

std::string join_evaluations(const std::vector<std::string>& jsons) {
  using nlohmann::ordered_json;
  if (jsons.size() == 1) return jsons.front();
  ordered_json all{{"scenarios", ordered_json::array()}, {"controllers", ordered_json::array()}};
  for (const std::string& json : jsons) {
    all["scenarios"].push_back(ordered_json::parse(json));
    const ordered_json& one = all["scenarios"].back();
    for (const ordered_json& row : one["controllers"]) {
      ordered_json named{{"scenario", one["scenario"]}};
      named.update(row);
      all["controllers"].push_back(std::move(named));
    }
  }
  return all.dump(2) + "\n";
}

}  // namespace traffic::train
