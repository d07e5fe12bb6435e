#include "rollouts/cost.h"

#include <algorithm>
#include <cstddef>

namespace traffic::train {

Cost::Cost(const config::Lagrange& weights, std::int64_t conflicts)
    : collision_cost_(weights.collision_cost),
      emergency_stop_cost_(weights.emergency_stop_cost),
      conflicts_(conflicts) {}

std::vector<float> Cost::operator()(const rollout::Period& period,
                                    const scene::EpisodeScore& before) const {
  // The road of this scenario may have fewer conflicts than that of another scenario.
  const std::int64_t conflicts =
      conflicts_ == 1 ? 1 : std::clamp<std::int64_t>(period.num_conflicts, 1, conflicts_);
  std::vector<double> unsafe(static_cast<std::size_t>(conflicts), 0.0);
  double commanded = 0.0;
  double between = 0.0;  // unsafe steps of vehicles without a conflict ahead
  for (const rollout::ControlledVehicle& vehicle :
       period.of<rollout::VehicleSection>().controlled) {
    commanded += vehicle.steps;
    if (conflicts > 1 && (vehicle.conflict < 0 || vehicle.conflict >= conflicts)) {
      between += vehicle.unsafe_steps;
    } else {
      unsafe[conflicts > 1 ? static_cast<std::size_t>(vehicle.conflict) : 0] +=
          vehicle.unsafe_steps;
    }
  }
  const auto since = [](std::int64_t now, std::int64_t then) {
    return static_cast<double>(now - then);
  };
  const double events =
      collision_cost_ * since(period.score.collisions, before.collisions) +
      emergency_stop_cost_ * since(period.score.emergency_stops, before.emergency_stops);
  const auto shares = static_cast<double>(conflicts);
  std::vector<float> cost(static_cast<std::size_t>(conflicts_), 0.0F);
  for (std::size_t c = 0; c < unsafe.size(); ++c) {
    const double share = commanded > 0.0 ? (unsafe[c] + between / shares) / commanded : 0.0;
    cost[c] = static_cast<float>(share + events / shares);
  }
  return cost;
}

}  // namespace traffic::train
