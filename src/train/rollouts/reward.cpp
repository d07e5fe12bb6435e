#include "rollouts/reward.h"

#include <algorithm>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

/// Contribution of one unit of a term to the relative gain of an episode, times `factor`.
double weight_of(scene::Term term, const Baseline& baseline, const scene::Objective& objective,
                 double factor) {
  const auto per = [&](double weight, double whole) {
    return factor * weight / std::max(1.0, whole);
  };
  switch (term) {
    case scene::Term::kThroughput:
      return per(objective.throughput, baseline.expected_demand);
    case scene::Term::kDelay:
      return per(objective.delay, baseline.expected_loss_s);
    case scene::Term::kCo2:
      return per(objective.co2, baseline.expected_emissions.co2_g);
    case scene::Term::kElectricity:
      return per(objective.electricity, baseline.expected_emissions.electricity_wh);
    case scene::Term::kDistance:
      break;
  }
  return per(objective.co2 + objective.electricity, baseline.expected_driven_m);
}

/// Adds up the terms of each conflict.
rl::BaselineCurve weighted_curve(const rl::BaselineSums& growth,
                                 const std::vector<double>& weights) {
  const auto terms = static_cast<std::int64_t>(weights.size());
  TRAFFIC_CHECK(growth.conflicts % terms == 0,
                "a baseline has {} columns, expected a multiple of {}", growth.conflicts, terms);
  rl::BaselineSums sums{
      .bin_s = growth.bin_s, .conflicts = growth.conflicts / terms, .episodes = growth.episodes};
  sums.growth.resize(growth.growth.size() / weights.size());
  for (std::size_t i = 0; i < sums.growth.size(); ++i) {
    for (std::size_t t = 0; t < weights.size(); ++t) {
      sums.growth[i] += weights[t] * growth.growth[i * weights.size() + t];
    }
  }
  return rl::BaselineCurve(sums);
}

rollout::LightCost light_cost_of(const Baseline& baseline, const scene::Objective& objective) {
  if (!objective.needs_emissions()) return {};
  const auto seconds = [&](scene::Term term) {
    return weight_of(term, baseline, objective, baseline.expected_loss_s);
  };
  return {.delay = objective.throughput + objective.delay,
          .co2_s_per_g = seconds(scene::Term::kCo2),
          .electricity_s_per_wh = seconds(scene::Term::kElectricity),
          .distance_s_per_m = -seconds(scene::Term::kDistance)};
}

}  // namespace

Reward::Reward(const std::vector<Baseline>& baselines, double scale,
               const scene::Objective& objective) {
  for (const Baseline& baseline : baselines) {
    std::vector<double> weights;
    for (const scene::Term term : scene::terms_of(objective)) {
      weights.push_back(weight_of(term, baseline, objective, scale));
    }
    const double first = weights.front();
    for (double& weight : weights) weight /= first;
    scenarios_.push_back({.curve = weighted_curve(baseline.growth, weights),
                          .weights = weights,
                          .scale = first,
                          .light_cost = light_cost_of(baseline, objective)});
  }
}

std::int64_t Reward::conflicts() const {
  std::int64_t maximum = 1;
  for (const OfScenario& s : scenarios_) maximum = std::max(maximum, s.curve.conflicts());
  return maximum;
}

double Reward::expected(std::int64_t scenario, double from_s, double to_s) const {
  const OfScenario& of = scenarios_.at(static_cast<std::size_t>(scenario));
  const rl::BaselineCurve& curve = of.curve;
  const double end = curve.duration_s();
  double sum = 0.0;
  for (std::int64_t c = 0; c < curve.conflicts(); ++c) {
    sum += of.scale * curve.growth(std::min(from_s, end), std::min(to_s, end), c);
  }
  return sum;
}

std::vector<float> Reward::operator()(std::int64_t scenario, const rollout::Period& period,
                                      double from_s) const {
  const auto& [curve, weights, scale, light_cost] =
      scenarios_.at(static_cast<std::size_t>(scenario));
  const std::size_t terms = weights.size();
  const auto conflicts = static_cast<std::size_t>(curve.conflicts());
  const double end = curve.duration_s();
  std::vector<float> rewards(static_cast<std::size_t>(this->conflicts()), 0.0F);
  for (std::size_t c = 0; c < conflicts; ++c) {
    double growth = 0.0;
    const auto& part = conflicts == 1 ? period.growth : period.conflict_growth;
    const std::size_t columns = conflicts * terms;
    for (std::size_t first = c * terms; first < part.size(); first += columns) {
      for (std::size_t t = 0; t < terms; ++t) growth += weights[t] * part[first + t];
    }
    const double expected = curve.growth(std::min(from_s, end), std::min(period.time_s, end),
                                         static_cast<std::int64_t>(c));
    rewards[c] = static_cast<float>(scale * (growth - expected));
  }
  return rewards;
}

}  // namespace traffic::train
