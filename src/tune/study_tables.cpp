/// Formats the results of a search over settings as a table and as JSON.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "traffic/report/paired_statistics.h"
#include "traffic/report/table.h"
#include "traffic/tune/study.h"

namespace traffic::tune {
namespace {

using report::MeanInterval;
using Cell = report::Table::Cell;

std::vector<double> values_of(const Trial& trial) {
  std::vector<double> values;
  for (const auto& [seed, value] : trial.figure) values.push_back(value);
  return values;
}

/// Mean and interval of the differences to another trial on the same seeds; nullopt if the two
/// trials cannot be compared.
std::optional<MeanInterval> beside(const Trial& trial, const Trial& other) {
  if (trial.budget != other.budget || !trial.failure.empty() || &trial == &other) {
    return std::nullopt;
  }
  return report::mean_interval(report::paired_differences(values_of(trial), values_of(other)));
}

Cell real(double value) { return std::isfinite(value) ? Cell(value) : Cell(); }

}  // namespace

std::string study_text(const Table& table, const std::vector<Trial>& trials) {
  std::vector<std::string> columns{"trial"};
  for (const Choice& choice : table.choices) columns.push_back(choice.key);
  columns.insert(columns.end(),
                 {table.budget_key, table.figure, "+-95%", "minus the best", "+-95%"});
  report::Table text(columns);
  for (const Trial& trial : trials) {
    std::vector<Cell> row;
    row.emplace_back(trial.number);
    for (const std::string& value : trial.values) row.emplace_back(value);
    row.emplace_back(trial.budget);
    if (trial.failure.empty()) {
      const MeanInterval own = report::mean_interval(values_of(trial));
      const auto paired = beside(trial, trials.front());
      row.insert(row.end(),
                 {real(own.mean), real(own.half_width), paired ? real(paired->mean) : Cell(),
                  paired ? real(paired->half_width) : Cell()});
    } else {
      row.insert(row.end(), {std::string("failed"), Cell(), Cell(), Cell()});
    }
    text.add_row(std::move(row));
  }
  return text.to_text();
}

nlohmann::ordered_json study_json(const Table& table, const std::vector<Trial>& trials) {
  nlohmann::ordered_json all{{"config", table.config},
                             {"figure", table.figure},
                             {"goal", table.largest ? "largest" : "smallest"},
                             {"budget_key", table.budget_key},
                             {"budgets", table.budgets},
                             {"training_seeds", table.training_seeds}};
  for (const Trial& trial : trials) {
    nlohmann::ordered_json settings;
    for (std::size_t i = 0; i < table.choices.size(); ++i) {
      settings[table.choices[i].key] = trial.values[i];
    }
    nlohmann::ordered_json figures;
    for (const auto& [seed, value] : trial.figure) figures[fmt::format("{}", seed)] = value;
    all["trials"].push_back({{"trial", trial.number},
                             {"settings", settings},
                             {"budget", trial.budget},
                             {"by_seed", figures},
                             {"failure", trial.failure}});
  }
  return all;
}

}  // namespace traffic::tune
