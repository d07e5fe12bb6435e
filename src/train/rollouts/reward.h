/// Computes the reward of a control period in a training with simulations of traffic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rollouts/baseline.h"
#include "traffic/rl/baseline_curve.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::train {

/// The reward of a control period is the growth of the objective minus its growth in uncontrolled
/// traffic of the same scenario in the same time. The difference is divided by the expected demand
/// (throughput), or by the time that uncontrolled traffic loses (delay). With both objectives the
/// sum over an episode is therefore a relative gain, times `scale`. CO2 and electric energy count
/// as far as they exceed the distance driven times their amount per metre in uncontrolled traffic,
/// and are divided by their amount there. The sum over an episode is then, to first order, the
/// relative gain per kilometre. The reward of a weighted sum is the weighted sum of the rewards.
class Reward {
 public:
  /// @param baselines one for each scenario
  Reward(const std::vector<Baseline>& baselines, double scale,
         const scene::Objective& objective = scene::Objective::kThroughput);

  /// C, the largest number of conflicts in any scenario.
  [[nodiscard]] std::int64_t conflicts() const;
  /// Length of a scenario's episodes.
  [[nodiscard]] double duration_s(std::size_t scenario) const {
    return scenarios_.at(scenario).curve.duration_s();
  }
  /// Growth of the objective in uncontrolled traffic between two times of the episode, summed over
  /// all conflicts, in units of the reward.
  [[nodiscard]] double expected(std::int64_t scenario, double from_s, double to_s) const;
  /// How the cost of a light in this scenario follows from the traffic before it. Emissions are
  /// converted into seconds, so that they have their weight in the objective when summed over the
  /// network. With the throughput as objective the cost is the time lost, as with the delay.
  [[nodiscard]] rollout::LightCost light_cost(std::size_t scenario) const {
    return scenarios_.at(scenario).light_cost;
  }
  /// @param from_s time at which the period began
  /// @return [C] reward for each conflict; 0 for conflicts that the scenario does not have
  [[nodiscard]] std::vector<float> operator()(std::int64_t scenario, const rollout::Period& period,
                                              double from_s) const;

 private:
  struct OfScenario {
    rl::BaselineCurve curve;      ///< of the sum of the terms, each times its weight
    std::vector<double> weights;  ///< [T] of the terms, divided by that of the first
    double scale;                 ///< from that sum to the reward
    rollout::LightCost light_cost;
  };
  std::vector<OfScenario> scenarios_;
};

}  // namespace traffic::train
