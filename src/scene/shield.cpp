#include "traffic/scene/shield.h"

#include <algorithm>

namespace traffic::scene {

float time_headway_s(float gap_m, float speed_mps) {
  return speed_mps > 0 ? std::max(gap_m, 0.0F) / speed_mps : kNever_s;
}

float time_to_collision_s(float gap_m, float speed_mps, float leader_speed_mps) {
  const float closing = speed_mps - leader_speed_mps;
  return closing > 0 ? std::max(gap_m, 0.0F) / closing : kNever_s;
}

bool is_unsafe(float gap_m, float speed_mps, float leader_speed_mps, const ShieldLimits& limits) {
  return time_headway_s(gap_m, speed_mps) < limits.thw_s ||
         time_to_collision_s(gap_m, speed_mps, leader_speed_mps) < limits.ttc_s;
}

float clip_speed(float wanted_mps, float speed_mps, const Ability& ability, double step_s) {
  const auto dt = static_cast<float>(step_s);
  const float low = std::max(0.0F, speed_mps - ability.max_decel_mps2 * dt);
  return std::clamp(wanted_mps, low, std::max(low, speed_mps + ability.max_accel_mps2 * dt));
}

std::optional<float> braking_override(const FollowSituation& situation, const ShieldLimits& limits,
                                      double step_s) {
  const auto dt = static_cast<float>(step_s);
  const float gap = situation.gap_m + (situation.leader_speed_mps - situation.wanted_mps) * dt;
  if (!is_unsafe(gap, situation.wanted_mps, situation.leader_speed_mps, limits))
    return std::nullopt;
  const float braked = std::max(0.0F, situation.speed_mps - limits.brake_mps2 * dt);
  if (situation.wanted_mps <= braked) return std::nullopt;
  return braked;
}

}  // namespace traffic::scene
