/// What a control period is worth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rollouts/baseline.h"
#include "traffic/rl/baseline_curve.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::train {

/// The reward of a control period: growth of the objective less what uncontrolled traffic of that
/// scenario gains at that time; of the score's numerator over the expected demand, of time saved
/// over what uncontrolled traffic loses. So an episode's sum is a gain in both.
class Reward {
 public:
  /// @param baselines of the scenarios
  Reward(const std::vector<Baseline>& baselines, double scale,
         scene::Objective objective = scene::Objective::kThroughput);

  /// C: the most that a scenario has.
  [[nodiscard]] std::int64_t conflicts() const;
  /// Length of a scenario's episodes.
  [[nodiscard]] double duration_s(std::size_t scenario) const {
    return scenarios_.at(scenario).curve.duration_s();
  }
  /// What uncontrolled traffic gains between two times, of all conflicts, in
  /// units of the reward.
  [[nodiscard]] double expected(std::int64_t scenario, double from_s, double to_s) const;
  /// @return [C], 0 for conflicts that the scenario has not
  [[nodiscard]] std::vector<float> operator()(std::int64_t scenario, const rollout::Period& period,
                                              double from_s) const;

 private:
  struct OfScenario {
    rl::BaselineCurve curve;
    double scale;
  };
  std::vector<OfScenario> scenarios_;
};

}  // namespace traffic::train
