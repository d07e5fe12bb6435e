/// The cost of a control period, which measures unsafe driving. The training ppo_constrained (phase
/// 3) keeps its mean under lagrange.cost_limit. Other trainings only report it.
#pragma once

#include <vector>

#include "traffic/config/config.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/score.h"

namespace traffic::train {

/// Computes the cost of a control period for each conflict, a place where streams of traffic meet.
/// The sum over the conflicts is
///
///   unsafe / commanded + collision_cost * collisions + emergency_stop_cost * emergency_stops
///
/// `commanded` is the number of vehicle-steps under control in the period: each vehicle counts once
/// for each simulation step. `unsafe` is the number of these vehicle-steps in which the vehicle or
/// its follower was below a safety threshold of the shield, the filter that makes commands safe.
/// The first term is 0 if no vehicle was under control. Collisions and emergency stops are counted
/// for all vehicles of the road. They are divided evenly among the conflicts, and so are the unsafe
/// steps of vehicles without a conflict ahead.
class Cost {
 public:
  Cost(const config::Lagrange& weights, std::int64_t conflicts);

  /// @param before the score at the beginning of the period
  /// @return [C] cost for each of C conflicts; 0 for conflicts that the road does not have
  [[nodiscard]] std::vector<float> operator()(const rollout::Period& period,
                                              const scene::EpisodeScore& before) const;

 private:
  double collision_cost_;
  double emergency_stop_cost_;
  std::int64_t conflicts_;
};

}  // namespace traffic::train
