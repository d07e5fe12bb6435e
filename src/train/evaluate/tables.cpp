#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "traffic/core/error.h"
#include "traffic/report/paired_statistics.h"
#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {
namespace {

using Cell = report::Table::Cell;

/// A figure of an episode.
struct Figure {
  const char* name;
  double (*of)(const EvaluatedEpisode&);
  bool whole = false;  ///< a count
};

const std::vector<Figure>& figures() {
  using E = EvaluatedEpisode;
  static const std::vector<Figure> all{
      {"ocr_all", [](const E& e) { return e.score.ocr_all(); }},
      {"ocr_departed", [](const E& e) { return e.score.ocr_departed(); }},
      {"arrived", [](const E& e) { return static_cast<double>(e.score.arrived); }, true},
      {"waiting", [](const E& e) { return static_cast<double>(e.score.waiting); }, true},
      {"outflow_vph", [](const E& e) { return e.score.outflow_vph(); }},
      {"mean_speed_mps", [](const E& e) { return e.score.mean_speed_mps(); }},
      {"speed_deviation_mps", [](const E& e) { return e.score.speed_deviation_mps(); }},
      {"mean_abs_accel_mps2", [](const E& e) { return e.score.mean_abs_accel_mps2(); }},
      {"collisions", [](const E& e) { return static_cast<double>(e.score.collisions); }, true},
      {"emergency_stops", [](const E& e) { return static_cast<double>(e.score.emergency_stops); },
       true},
      {"hard_brakes", [](const E& e) { return static_cast<double>(e.score.hard_brakes); }, true},
      {"teleports", [](const E& e) { return static_cast<double>(e.score.teleports); }, true},
      {"unsafe_steps", [](const E& e) { return static_cast<double>(e.score.unsafe_steps); }, true},
      {"unsafe_cv_steps", [](const E& e) { return static_cast<double>(e.score.unsafe_cv_steps); },
       true},
      {"interventions", [](const E& e) { return static_cast<double>(e.score.interventions); },
       true},
      {"cv_steps", [](const E& e) { return static_cast<double>(e.score.cv_steps); }, true},
      {"max_controlled", [](const E& e) { return static_cast<double>(e.max_controlled); }, true},
      {"shield_clips", [](const E& e) { return static_cast<double>(e.score.shield_clips); }, true},
      {"shield_overrides", [](const E& e) { return static_cast<double>(e.score.shield_overrides); },
       true},
  };
  return all;
}

using Episodes = std::vector<EvaluatedEpisode>;

std::vector<double> values_of(const EvaluationPlan& plan, const Episodes& episodes,
                              std::size_t controller, double (*of)(const EvaluatedEpisode&)) {
  std::vector<double> values;
  for (std::size_t s = 0; s < plan.seeds.size(); ++s) {
    values.push_back(of(episodes.at(controller * plan.seeds.size() + s)));
  }
  return values;
}

std::vector<double> scores_of(const EvaluationPlan& plan, const Episodes& episodes,
                              std::size_t controller) {
  return values_of(plan, episodes, controller,
                   [](const EvaluatedEpisode& e) { return e.score.ocr_all(); });
}

std::optional<std::size_t> index_of_none(const EvaluationPlan& plan) {
  const auto found = std::find(plan.controllers.begin(), plan.controllers.end(), "none");
  if (found == plan.controllers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - plan.controllers.begin());
}

/// Gains over `none`, seed by seed.
std::vector<double> gains_of(const EvaluationPlan& plan, const Episodes& episodes,
                             std::size_t controller, std::size_t none) {
  return report::paired_gains(scores_of(plan, episodes, controller),
                              scores_of(plan, episodes, none));
}

/// As a field of a CSV file, in quotes where it needs them.
std::string csv_field(std::string text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '"');
  }
  return '"' + text + '"';
}

}  // namespace

report::Table comparison_table(const EvaluationPlan& plan, const Episodes& episodes) {
  std::vector<std::string> columns{"controller", "gain_%", "+-95%", "worst_%"};
  for (const Figure& figure : figures()) columns.emplace_back(figure.name);
  report::Table table(columns);
  const auto none = index_of_none(plan);
  for (std::size_t c = 0; c < plan.controllers.size(); ++c) {
    std::vector<Cell> row{plan.controllers[c]};
    if (none && *none != c) {
      const report::MeanInterval gain = report::mean_interval(gains_of(plan, episodes, c, *none));
      row.insert(row.end(), {gain.mean, gain.half_width, gain.least});
    } else {
      row.insert(row.end(), {Cell{}, Cell{}, Cell{}});
    }
    for (const Figure& figure : figures()) {
      const std::vector<double> values = values_of(plan, episodes, c, figure.of);
      const bool is_peak = std::string_view(figure.name) == "max_controlled";
      const report::MeanInterval mean = report::mean_interval(values);
      row.emplace_back(is_peak ? mean.most : mean.mean);
    }
    table.add_row(std::move(row));
  }
  return table;
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
      table.add_row(
          {plan.controllers[a], plan.controllers[b], mean.mean, mean.half_width, mean.count});
    }
  }
  return table;
}

std::string episodes_csv(const EvaluationPlan& plan, const Episodes& episodes, bool with_header) {
  std::string text;
  if (with_header) {
    text = "scenario,controller,seed";
    for (const Figure& figure : figures()) text += fmt::format(",{}", figure.name);
    text += '\n';
  }
  for (const EvaluatedEpisode& episode : episodes) {
    text += fmt::format("{},{},{}", csv_field(plan.config.env.scenario),
                        csv_field(plan.controllers[episode.controller]), episode.seed);
    for (const Figure& figure : figures()) text += fmt::format(",{}", figure.of(episode));
    text += '\n';
  }
  return text;
}

std::string evaluation_json(const EvaluationPlan& plan, const Episodes& episodes) {
  using nlohmann::ordered_json;
  ordered_json all;
  all["scenario"] = plan.config.env.scenario;
  all["demand_scale"] = plan.demand_scale;
  all["seeds"] = plan.seeds;
  all["controllers"] = ordered_json::parse(comparison_table(plan, episodes).to_json());
  all["differences"] = ordered_json::parse(difference_table(plan, episodes).to_json());
  ordered_json rows = ordered_json::array();
  for (const EvaluatedEpisode& episode : episodes) {
    ordered_json row{{"controller", plan.controllers[episode.controller]}, {"seed", episode.seed}};
    for (const Figure& figure : figures()) {
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
