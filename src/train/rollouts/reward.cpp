#include "rollouts/reward.h"

#include <algorithm>

namespace traffic::train {

Reward::Reward(const std::vector<Baseline>& baselines, double scale, scene::Objective objective) {
  for (const Baseline& baseline : baselines) {
    const double whole =
        objective == scene::Objective::kDelay ? baseline.expected_loss_s : baseline.expected_demand;
    scenarios_.push_back(
        {.curve = rl::BaselineCurve(baseline.growth), .scale = scale / std::max(1.0, whole)});
  }
}

std::int64_t Reward::conflicts() const {
  std::int64_t maximum = 1;
  for (const OfScenario& s : scenarios_) maximum = std::max(maximum, s.curve.conflicts());
  return maximum;
}

double Reward::expected(std::int64_t scenario, double from_s, double to_s) const {
  const auto& [curve, scale] = scenarios_.at(static_cast<std::size_t>(scenario));
  const double end = curve.duration_s();
  double sum = 0.0;
  for (std::int64_t c = 0; c < curve.conflicts(); ++c) {
    sum += scale * curve.growth(std::min(from_s, end), std::min(to_s, end), c);
  }
  return sum;
}

std::vector<float> Reward::operator()(std::int64_t scenario, const rollout::Period& period,
                                      double from_s) const {
  const auto& [curve, scale] = scenarios_.at(static_cast<std::size_t>(scenario));
  const auto conflicts = static_cast<std::size_t>(curve.conflicts());
  const double end = curve.duration_s();
  std::vector<float> rewards(static_cast<std::size_t>(this->conflicts()), 0.0F);
  for (std::size_t c = 0; c < conflicts; ++c) {
    double growth = 0.0;
    for (std::size_t s = 0; s < period.growth.size(); ++s) {
      growth += conflicts == 1 ? period.growth[s] : period.conflict_growth[s * conflicts + c];
    }
    const double expected = curve.growth(std::min(from_s, end), std::min(period.time_s, end),
                                         static_cast<std::int64_t>(c));
    rewards[c] = static_cast<float>(scale * (growth - expected));
  }
  return rewards;
}

}  // namespace traffic::train
