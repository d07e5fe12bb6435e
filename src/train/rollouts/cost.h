/// What phase 3 keeps under a limit.
#pragma once

#include <vector>

#include "traffic/config/config.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/score.h"

namespace traffic::train {

/// The cost of a control period, by conflict; summed over conflicts it is
///
///   unsafe / commanded + collision_cost * collisions + emergency_stop_cost * emergency stops
///
/// where commanded are the vehicle-steps under control in the period and unsafe those of them in
/// which the vehicle or its follower was under a threshold of the shield; no vehicle under control
/// costs nothing. Collisions and emergency stops are those of the whole road, whoever caused them;
/// they, and vehicles between conflicts, are shared evenly by the conflicts.
class Cost {
 public:
  Cost(const config::Lagrange& weights, std::int64_t conflicts);

  /// @param before what the score was when the period began
  /// @return [C], 0 for conflicts that the road has not
  [[nodiscard]] std::vector<float> operator()(const rollout::Period& period,
                                              const scene::EpisodeScore& before) const;

 private:
  double collision_cost_;
  double emergency_stop_cost_;
  std::int64_t conflicts_;
};

}  // namespace traffic::train
