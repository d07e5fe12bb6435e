/// Rules of the safety shield, as pure functions. Gaps are SUMO's: bumper to bumper less the
/// follower's minGap, so that a queue at rest has a gap of about 0.
#pragma once

#include <limits>
#include <optional>

namespace traffic::scene {

struct ShieldLimits {
  float thw_s = 0.7F;       ///< least time headway
  float ttc_s = 1.5F;       ///< least time-to-collision
  float brake_mps2 = 4.0F;  ///< with which level 2 brakes
};

inline constexpr float kNever_s = std::numeric_limits<float>::infinity();

/// Time headway; kNever_s at rest.
float time_headway_s(float gap_m, float speed_mps);
/// Time-to-collision; kNever_s when the gap does not close.
float time_to_collision_s(float gap_m, float speed_mps, float leader_speed_mps);
/// Whether a follower is under one of the thresholds.
bool is_unsafe(float gap_m, float speed_mps, float leader_speed_mps, const ShieldLimits& limits);

/// What a vehicle can do in a step.
struct Ability {
  float max_accel_mps2 = 0;
  float max_decel_mps2 = 0;  ///< positive
};
/// Level 1: the nearest speed that the vehicle can have one step later.
float clip_speed(float wanted_mps, float speed_mps, const Ability& ability, double step_s);

/// Level 2: the speed to brake to when going on with `wanted_mps` would end the step under a
/// threshold; nothing when the command may stand.
struct FollowSituation {
  float wanted_mps = 0;
  float speed_mps = 0;
  float gap_m = 0;
  float leader_speed_mps = 0;
};
std::optional<float> braking_override(const FollowSituation& situation, const ShieldLimits& limits,
                                      double step_s);

}  // namespace traffic::scene
