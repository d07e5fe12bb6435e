/// Rules of the safety shield, as pure functions. Gaps are SUMO's: bumper to bumper less the
/// follower's minGap, so that a queue at rest has a gap of about 0.
#pragma once

#include <limits>
#include <optional>

namespace traffic::scene {

struct ShieldLimits {
  double thw_s = 0.7;       ///< least time headway
  double ttc_s = 1.5;       ///< least time-to-collision
  double brake_mps2 = 4.0;  ///< with which level 2 brakes
};

inline constexpr double kNeverS = std::numeric_limits<double>::infinity();

/// Time headway; kNeverS at rest.
double time_headway_s(double gap_m, double speed_mps);
/// Time-to-collision; kNeverS when the gap does not close.
double time_to_collision_s(double gap_m, double speed_mps, double leader_speed_mps);
/// Whether a follower is under one of the thresholds.
bool is_unsafe(double gap_m, double speed_mps, double leader_speed_mps, const ShieldLimits& limits);

/// What a vehicle can do in a step.
struct Ability {
  double max_accel_mps2 = 0;
  double max_decel_mps2 = 0;  ///< positive
};
/// Level 1: the nearest speed that the vehicle can have one step later.
double clip_speed(double wanted_mps, double speed_mps, const Ability& ability, double step_s);

/// Level 2: the speed to brake to when going on with `wanted_mps` would end the step under a
/// threshold; nothing when the command may stand.
struct FollowSituation {
  double wanted_mps = 0;
  double speed_mps = 0;
  double gap_m = 0;
  double leader_speed_mps = 0;
};
std::optional<double> braking_override(const FollowSituation& situation, const ShieldLimits& limits,
                                       double step_s);

}  // namespace traffic::scene
