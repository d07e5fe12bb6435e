#include "evaluate/figures.h"

#include <algorithm>

namespace traffic::train {
namespace {

using E = EvaluatedEpisode;

double real(std::int64_t count) { return static_cast<double>(count); }

/// Metrics of evaluations that measure emissions.
std::vector<Figure> emission_figures() {
  return {
      {"co2_g_per_km", [](const E& e) { return e.score.emissions_per_km().co2_g; }, false,
       "CO2/km"},
      {"electricity_wh_per_km",
       [](const E& e) { return e.score.emissions_per_km().electricity_wh; }},
      {"fuel_g_per_km", [](const E& e) { return e.score.emissions_per_km().fuel_g; }},
      {"co2_g_per_vehicle", [](const E& e) { return e.score.emissions_per_vehicle().co2_g; }},
      {"electricity_wh_per_vehicle",
       [](const E& e) { return e.score.emissions_per_vehicle().electricity_wh; }},
      {"driven_km", [](const E& e) { return 1e-3 * e.score.driven_m; }},
      {"co2_kg", [](const E& e) { return 1e-3 * e.score.emissions().co2_g; }},
      {"waiting_co2_kg", [](const E& e) { return 1e-3 * e.score.waiting_emissions.co2_g; }},
      {"fuel_kg", [](const E& e) { return 1e-3 * e.score.emissions().fuel_g; }},
      {"electricity_kwh", [](const E& e) { return 1e-3 * e.score.emissions().electricity_wh; }},
  };
}

}  // namespace

const std::vector<Figure>& safety_figures() {
  static const std::vector<Figure> all{
      {"emergency_stops", [](const E& e) { return real(e.score.emergency_stops); }, true, "emerg."},
      {"emergency_brakes", [](const E& e) { return real(e.score.emergency_brakes); }, true},
      {"collisions", [](const E& e) { return real(e.score.collisions); }, true, "coll."},
      {"hard_brakes", [](const E& e) { return real(e.score.hard_brakes); }, true, "brakes"},
  };
  return all;
}

namespace {

std::vector<Figure> list_figures(bool with_emissions) {
  std::vector<Figure> all{
      {"ocr_all", [](const E& e) { return e.score.ocr_all(); }, false, "ocr_all"},
      {"delay_s", [](const E& e) { return e.score.delay_s(); }, false, "delay_s"},
      {"outflow_vph", [](const E& e) { return e.score.outflow_vph(); }, false, "veh/h"},
      {"mean_speed_mps", [](const E& e) { return e.score.mean_speed_mps(); }, false,
       with_emissions ? nullptr : "m/s"},  // both columns would be too wide for a terminal
  };
  const auto append = [&](const std::vector<Figure>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  if (with_emissions) append(emission_figures());
  append(safety_figures());
  append({
      {"interventions", [](const E& e) { return real(e.score.interventions); }, true, "picked"},
      {"ocr_departed", [](const E& e) { return e.score.ocr_departed(); }},
      {"arrived", [](const E& e) { return real(e.score.arrived); }, true},
      {"waiting", [](const E& e) { return real(e.score.waiting); }, true},
      {"discarded", [](const E& e) { return real(e.score.discarded); }, true},
      {"queue", [](const E& e) { return e.score.mean_queue(); }},
      {"standing_time_s", [](const E& e) { return e.score.standing_time_s(); }},
      {"jammed_runs", [](const E& e) { return e.jammed ? 1.0 : 0.0; }},
      {"signal_changes", [](const E& e) { return real(e.score.signal_changes); }, true},
      {"time_loss_s", [](const E& e) { return e.score.time_loss_s; }},
      {"depart_delay_s", [](const E& e) { return e.score.depart_delay_s; }},
      {"speed_deviation_mps", [](const E& e) { return e.score.speed_deviation_mps(); }},
      {"mean_abs_accel_mps2", [](const E& e) { return e.score.mean_abs_accel_mps2(); }},
      {"teleports", [](const E& e) { return real(e.score.teleports); }, true},
      {"unsafe_steps", [](const E& e) { return real(e.score.unsafe_steps); }, true},
      {"unsafe_cv_steps", [](const E& e) { return real(e.score.unsafe_cv_steps); }, true},
      {"cv_steps", [](const E& e) { return real(e.score.cv_steps); }, true},
      {"max_controlled", [](const E& e) { return real(e.max_controlled); }, true},
      {"shield_clips", [](const E& e) { return real(e.score.shield_clips); }, true},
      {"shield_overrides", [](const E& e) { return real(e.score.shield_overrides); }, true},
  });
  return all;
}

}  // namespace

bool measures_emissions(const EvaluationPlan& plan) {
  return plan.emissions || scene::objective_of(plan.config.env.objective).needs_emissions();
}

const std::vector<Figure>& figures(const EvaluationPlan& plan) {
  static const std::vector<Figure> without = list_figures(false);
  static const std::vector<Figure> with_emissions = list_figures(true);
  return measures_emissions(plan) ? with_emissions : without;
}

std::vector<double> values_of(const EvaluationPlan& plan, const Episodes& episodes,
                              std::size_t controller, double (*of)(const EvaluatedEpisode&)) {
  std::vector<double> values;
  for (std::size_t s = 0; s < plan.seeds.size(); ++s) {
    values.push_back(of(episodes.at(controller * plan.seeds.size() + s)));
  }
  return values;
}

report::MeanInterval excess_of(const EvaluationPlan& plan, const Episodes& episodes,
                               std::size_t controller, std::size_t none, const Figure& figure) {
  return report::mean_interval(
      report::paired_differences(values_of(plan, episodes, controller, figure.of),
                                 values_of(plan, episodes, none, figure.of)));
}

std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::optional<std::size_t> index_of_none(const EvaluationPlan& plan) {
  const auto found = std::find(plan.controllers.begin(), plan.controllers.end(), "none");
  if (found == plan.controllers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - plan.controllers.begin());
}

std::vector<double> gains_of(const EvaluationPlan& plan, const Episodes& episodes,
                             std::size_t controller, std::size_t none,
                             const std::optional<scene::Objective>& objective) {
  const scene::Objective wanted =
      objective.value_or(scene::objective_of(plan.config.env.objective));
  std::vector<double> gains;
  for (std::size_t s = 0; s < plan.seeds.size(); ++s) {
    const auto scores = [&](std::size_t c) {
      return compared_scores(episodes.at(c * plan.seeds.size() + s).score);
    };
    gains.push_back(scene::gain_percent(scores(controller), scores(none), wanted));
  }
  return gains;
}

}  // namespace traffic::train
