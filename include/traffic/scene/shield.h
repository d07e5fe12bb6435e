/// Rules of the safety shield, as functions without state. The shield corrects the speed that a
/// command requests. Level 1 limits the speed to what the vehicle can reach within a step. Level 2
/// brakes the vehicle if the speed would bring it too close to its leader.
///
/// Gaps are defined as in SUMO: bumper to bumper minus the follower's minGap, so a standing queue
/// has gaps of about 0.
#pragma once

#include <limits>
#include <optional>

namespace traffic::scene {

struct ShieldLimits {
  double thw_s = 0.7;       ///< minimum time headway
  double ttc_s = 1.5;       ///< minimum time-to-collision
  double brake_mps2 = 4.0;  ///< deceleration of level 2
};

inline constexpr double kNeverS = std::numeric_limits<double>::infinity();

/// Time headway in seconds: gap / speed; kNeverS for a standing vehicle.
double time_headway_s(double gap_m, double speed_mps);
/// Time-to-collision in seconds; kNeverS if the gap does not shrink.
double time_to_collision_s(double gap_m, double speed_mps, double leader_speed_mps);
/// Whether the follower's time headway is below limits.thw_s, or its time-to-collision is below
/// limits.ttc_s.
bool is_unsafe(double gap_m, double speed_mps, double leader_speed_mps, const ShieldLimits& limits);

/// Limits of a vehicle's acceleration.
struct Ability {
  double max_accel_mps2 = 0;
  double max_decel_mps2 = 0;  ///< positive
};
/// Level 1: the speed nearest to `wanted_mps` that the vehicle can reach within a step.
double clip_speed(double wanted_mps, double speed_mps, const Ability& ability, double step_s);

/// A follower that wants to drive at another speed.
struct FollowSituation {
  double wanted_mps = 0;  ///< speed that a command asks for
  double speed_mps = 0;   ///< present speed
  double gap_m = 0;       ///< gap to the leader
  double leader_speed_mps = 0;
};
/// Level 2: the speed to brake to if the vehicle would become unsafe (is_unsafe) within the step at
/// `wanted_mps`; nothing if it stays safe.
std::optional<double> braking_override(const FollowSituation& situation, const ShieldLimits& limits,
                                       double step_s);

}  // namespace traffic::scene
