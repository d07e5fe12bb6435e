/// Computes the reward of a control period in a training with simulations of traffic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rollouts/baseline.h"
#include "traffic/rl/baseline_curve.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::train {

/// The reward of a control period is the growth of the objective (the throughput, or the negative
/// delay) minus its growth in uncontrolled traffic of the same scenario in the same time. The
/// difference is divided by the expected demand (throughput) or by the time that uncontrolled
/// traffic loses (delay). With either objective the sum over an episode is therefore a relative
/// gain, times `scale`.
class Reward {
 public:
  /// @param baselines one for each scenario
  Reward(const std::vector<Baseline>& baselines, double scale,
         scene::Objective objective = scene::Objective::kThroughput);

  /// C, the largest number of conflicts in any scenario.
  [[nodiscard]] std::int64_t conflicts() const;
  /// Length of a scenario's episodes.
  [[nodiscard]] double duration_s(std::size_t scenario) const {
    return scenarios_.at(scenario).curve.duration_s();
  }
  /// Growth of the objective in uncontrolled traffic between two times of the episode, summed over
  /// all conflicts, in units of the reward.
  [[nodiscard]] double expected(std::int64_t scenario, double from_s, double to_s) const;
  /// @param from_s time at which the period began
  /// @return [C] reward for each conflict; 0 for conflicts that the scenario does not have
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
