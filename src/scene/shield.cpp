// Tells whether a vehicle is too close to its leader, and corrects the speed that a command
// requests.
#include "traffic/scene/shield.h"

#include <algorithm>

namespace traffic::scene {

double time_headway_s(double gap_m, double speed_mps) {
  return speed_mps > 0 ? std::max(gap_m, 0.0) / speed_mps : kNeverS;
}

double time_to_collision_s(double gap_m, double speed_mps, double leader_speed_mps) {
  const double closing = speed_mps - leader_speed_mps;
  return closing > 0 ? std::max(gap_m, 0.0) / closing : kNeverS;
}

bool is_unsafe(double gap_m, double speed_mps, double leader_speed_mps,
               const ShieldLimits& limits) {
  return time_headway_s(gap_m, speed_mps) < limits.thw_s ||
         time_to_collision_s(gap_m, speed_mps, leader_speed_mps) < limits.ttc_s;
}

double clip_speed(double wanted_mps, double speed_mps, const Ability& ability, double step_s) {
  const double low = std::max(0.0, speed_mps - ability.max_decel_mps2 * step_s);
  return std::clamp(wanted_mps, low, std::max(low, speed_mps + ability.max_accel_mps2 * step_s));
}

std::optional<double> braking_override(const FollowSituation& situation, const ShieldLimits& limits,
                                       double step_s) {
  const double gap = situation.gap_m + (situation.leader_speed_mps - situation.wanted_mps) * step_s;
  if (!is_unsafe(gap, situation.wanted_mps, situation.leader_speed_mps, limits))
    return std::nullopt;
  const double braked = std::max(0.0, situation.speed_mps - limits.brake_mps2 * step_s);
  if (situation.wanted_mps <= braked) return std::nullopt;
  return braked;
}

}  // namespace traffic::scene
