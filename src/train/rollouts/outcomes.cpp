#include "rollouts/outcomes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "traffic/config/scenario_mix.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

/// A metric of an episode, which is also a column of episodes.csv.
struct Metric {
  const char* name;
  double (*of)(const EpisodeOutcome&);
  bool of_emissions = false;  ///< only known for episodes that measured emissions
};

constexpr std::array kMetrics{
    Metric{"ocr_all", [](const EpisodeOutcome& o) { return o.score.ocr_all(); }},
    Metric{"ocr_departed", [](const EpisodeOutcome& o) { return o.score.ocr_departed(); }},
    Metric{"arrived", [](const EpisodeOutcome& o) { return static_cast<double>(o.score.arrived); }},
    Metric{"waiting", [](const EpisodeOutcome& o) { return static_cast<double>(o.score.waiting); }},
    Metric{"outflow_vph", [](const EpisodeOutcome& o) { return o.score.outflow_vph(); }},
    Metric{"delay_s", [](const EpisodeOutcome& o) { return o.score.delay_s(); }},
    Metric{"co2_g_per_km", [](const EpisodeOutcome& o) { return o.score.emissions_per_km().co2_g; },
           true},
    Metric{"fuel_g_per_km",
           [](const EpisodeOutcome& o) { return o.score.emissions_per_km().fuel_g; }, true},
    Metric{"electricity_wh_per_km",
           [](const EpisodeOutcome& o) { return o.score.emissions_per_km().electricity_wh; }, true},
    Metric{"mean_speed_mps", [](const EpisodeOutcome& o) { return o.score.mean_speed_mps(); }},
    Metric{"speed_deviation_mps",
           [](const EpisodeOutcome& o) { return o.score.speed_deviation_mps(); }},
    Metric{"mean_abs_accel_mps2",
           [](const EpisodeOutcome& o) { return o.score.mean_abs_accel_mps2(); }},
    Metric{"collisions",
           [](const EpisodeOutcome& o) { return static_cast<double>(o.score.collisions); }},
    Metric{"emergency_stops",
           [](const EpisodeOutcome& o) { return static_cast<double>(o.score.emergency_stops); }},
    Metric{"emergency_brakes",
           [](const EpisodeOutcome& o) { return static_cast<double>(o.score.emergency_brakes); }},
    Metric{"hard_brakes",
           [](const EpisodeOutcome& o) { return static_cast<double>(o.score.hard_brakes); }},
    Metric{"teleports",
           [](const EpisodeOutcome& o) { return static_cast<double>(o.score.teleports); }},
    Metric{"interventions",
           [](const EpisodeOutcome& o) { return static_cast<double>(o.score.interventions); }},
    Metric{"cv_steps",
           [](const EpisodeOutcome& o) { return static_cast<double>(o.score.cv_steps); }},
    Metric{"cost",
           [](const EpisodeOutcome& o) {
             return o.steps > 0 ? o.cost / static_cast<double>(o.steps) : 0.0;
           }},
    Metric{"unsafe_share",
           [](const EpisodeOutcome& o) {
             return static_cast<double>(o.score.unsafe_steps) /
                    static_cast<double>(std::max<std::int64_t>(1, o.score.vehicle_steps));
           }},
    Metric{"unsafe_cv_steps",
           [](const EpisodeOutcome& o) { return static_cast<double>(o.score.unsafe_cv_steps); }},
    Metric{"shield_overrides",
           [](const EpisodeOutcome& o) { return static_cast<double>(o.score.shield_overrides); }},
};

std::vector<std::string> columns() {
  std::vector<std::string> names{"kind", "scenario", "seed", "control_steps", "reward"};
  for (const Metric& metric : kMetrics) names.emplace_back(metric.name);
  return names;
}

double mean_of(const std::vector<EpisodeOutcome>& outcomes, double (*of)(const EpisodeOutcome&)) {
  double sum = 0.0;
  for (const EpisodeOutcome& outcome : outcomes) sum += of(outcome);
  return outcomes.empty() ? 0.0 : sum / static_cast<double>(outcomes.size());
}

void append_scores(const std::string& prefix, const std::vector<EpisodeOutcome>& outcomes,
                   report::NamedValues& values) {
  const bool emissions = std::ranges::any_of(
      outcomes, [](const EpisodeOutcome& o) { return o.score.has_emissions(); });
  for (const Metric& metric : kMetrics) {
    if (metric.of_emissions && !emissions) continue;
    values.emplace_back(prefix + metric.name, mean_of(outcomes, metric.of));
  }
}

}  // namespace

std::vector<EpisodeOutcome> share_outcomes(const std::vector<EpisodeOutcome>& mine,
                                           std::int64_t total, comm::Communicator& communicator) {
  // For each request, one rank has the outcome and all other ranks have zeros. The sum over the
  // ranks, taken as integers, is therefore an exact copy of the outcome.
  static_assert(std::is_trivially_copyable_v<EpisodeOutcome>);
  static_assert(sizeof(EpisodeOutcome) % sizeof(std::int64_t) == 0);
  constexpr auto kWords = static_cast<std::int64_t>(sizeof(EpisodeOutcome) / sizeof(std::int64_t));
  torch::Tensor words = torch::zeros({total, kWords}, torch::kLong);
  auto* data = words.data_ptr<std::int64_t>();
  for (const EpisodeOutcome& outcome : mine) {
    std::memcpy(data + outcome.order * kWords, &outcome, sizeof(outcome));
  }
  communicator.all_reduce(words);
  std::vector<EpisodeOutcome> all(static_cast<std::size_t>(total));
  std::memcpy(static_cast<void*>(all.data()), data, all.size() * sizeof(EpisodeOutcome));
  return all;
}

std::vector<double> gains_over(const std::vector<EpisodeOutcome>& outcomes,
                               const std::vector<EpisodeOutcome>& others,
                               const scene::Objective& objective) {
  TRAFFIC_CHECK(outcomes.size() == others.size(),
                "{} episodes cannot be compared with {}: both numbers must be equal",
                outcomes.size(), others.size());
  std::vector<double> gains;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    gains.push_back(scene::gain_percent(compared_scores(outcomes[i].score),
                                        compared_scores(others[i].score), objective));
  }
  return gains;
}

double safety_excess(const std::vector<EpisodeOutcome>& controlled,
                     const std::vector<EpisodeOutcome>& uncontrolled, double limit) {
  constexpr std::int64_t scene::EpisodeScore::*kCounts[] = {&scene::EpisodeScore::emergency_stops,
                                                            &scene::EpisodeScore::emergency_brakes,
                                                            &scene::EpisodeScore::collisions};
  double excess = 0.0;
  for (const auto count : kCounts) {
    const auto counts_of = [&](const std::vector<EpisodeOutcome>& outcomes) {
      std::vector<double> counts;
      for (const EpisodeOutcome& one : outcomes) {
        counts.push_back(static_cast<double>(one.score.*count));
      }
      return counts;
    };
    const auto more = report::mean_interval(
        report::paired_differences(counts_of(controlled), counts_of(uncontrolled)));
    excess += std::max(0.0, more.low() - limit);
  }
  return excess;
}

double mean_cv_steps(const std::vector<EpisodeOutcome>& outcomes) {
  return mean_of(outcomes,
                 [](const EpisodeOutcome& o) { return static_cast<double>(o.score.cv_steps); });
}

double mean_cost(const std::vector<EpisodeOutcome>& outcomes) {
  return mean_of(outcomes, [](const EpisodeOutcome& o) {
    return o.cost / static_cast<double>(std::max<std::int64_t>(1, o.steps));
  });
}

report::NamedValues rollout_figures(const std::vector<EpisodeOutcome>& outcomes, double gain) {
  // If fragments are collected, it may be that no episode has ended.
  if (outcomes.empty()) return {};
  report::NamedValues values{
      {"rollout/ep_rew_mean", mean_of(outcomes, [](const EpisodeOutcome& o) { return o.reward; })},
      {"rollout/ep_len_mean",
       mean_of(outcomes, [](const EpisodeOutcome& o) { return static_cast<double>(o.steps); })}};
  append_scores("rollout/", outcomes, values);
  values.emplace_back("rollout/gain_of_means", gain);
  return values;
}

report::NamedValues evaluation_figures(const SelectionEvaluation& evaluation) {
  report::NamedValues values{{"eval/gain", evaluation.gain.mean},
                             {"eval/gain_half_width", evaluation.gain.half_width},
                             {"eval/gain_worst", evaluation.gain.least},
                             {"eval/safety_excess", evaluation.safety_excess}};
  for (const auto& [scenario, gain] : evaluation.by_scenario) {
    values.emplace_back("eval/gain_" + config::scenario_name(scenario), gain.mean);
  }
  append_scores("eval/", evaluation.controlled, values);
  return values;
}

EpisodeLog::EpisodeLog(const std::filesystem::path& path, std::optional<std::int64_t> resumed_step)
    : csv_(path, columns(), resumed_step) {}

void EpisodeLog::write(std::int64_t iteration, const std::string& kind,
                       const std::vector<EpisodeOutcome>& outcomes) {
  for (const EpisodeOutcome& outcome : outcomes) {
    std::vector<report::CsvWriter::Field> fields{kind, outcome.traffic.scenario,
                                                 static_cast<std::int64_t>(outcome.traffic.seed),
                                                 outcome.steps, outcome.reward};
    for (const Metric& metric : kMetrics) {
      if (metric.of_emissions && !outcome.score.has_emissions()) {
        fields.emplace_back(std::string());
      } else {
        fields.emplace_back(metric.of(outcome));
      }
    }
    csv_.write(iteration, fields);
  }
}

}  // namespace traffic::train
