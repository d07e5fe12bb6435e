/// The cost that phase 3 keeps under a limit.
#pragma once

#include <vector>

#include "traffic/config/config.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/score.h"

namespace traffic::train {

/// The cost of a control period, by conflict. Summed over conflicts it is
///
///   unsafe / commanded + collision_cost * collisions + emergency_stop_cost * emergency_stops
///
/// `commanded` counts the vehicle-steps under control in the period. `unsafe` counts those among
/// them in which the vehicle or its follower was under a threshold of the shield. The first term is
/// 0 if no vehicle was under control. Collisions and emergency stops are counted on the whole road,
/// whoever caused them. These two counts, and the unsafe steps of vehicles without a conflict
/// ahead, are divided evenly among the conflicts.
class Cost {
 public:
  Cost(const config::Lagrange& weights, std::int64_t conflicts);

  /// @param before the score at the beginning of the period
  /// @return [C], 0 for conflicts that the road does not have
  [[nodiscard]] std::vector<float> operator()(const rollout::Period& period,
                                              const scene::EpisodeScore& before) const;

 private:
  double collision_cost_;
  double emergency_stop_cost_;
  std::int64_t conflicts_;
};

}  // namespace traffic::train
