/// Moves a vehicle along plans within the limits of a car. The model of its motion is a kinematic
/// bicycle.
///
///     Pose after_half_a_second(const Box& car, const Plan& plan) {
///       PlanFollower follower(car);
///       follower.follow(plan);
///       for (int step = 0; step < 5; ++step) follower.step(0.1);
///       return follower.motion().pose;
///     }
#pragma once

#include <array>

#include "traffic/driving/driver.h"

namespace traffic::driving {

/// The motion of a vehicle's centre.
struct Motion {
  Pose pose;
  double speed_mps = 0.0;
  double accel_mps2 = 0.0;
  double steer_rad = 0.0;  ///< angle of the front wheels, to the left
};

/// Acceleration (pedals) and steering angle that a driver wants.
struct Controls {
  double accel_mps2 = 0.0;
  double steer_rad = 0.0;
};

/// Limits of a passenger car. Braking harder than about 8 m/s2 would slide on a dry road.
struct MotionLimits {
  double max_accel_mps2 = 3.0;
  double max_decel_mps2 = 8.0;
  double max_accel_rate_mps3 = 30.0;  ///< maximum change of the acceleration per second
  double max_steer_rad = 0.65;
  double max_steer_rate_radps = 1.0;
};

/// Distance between the axles of a vehicle of this length.
[[nodiscard]] double wheelbase_m(double length_m);

/// The motion one time step later. The vehicle never drives backwards.
/// @param wanted is clipped to the limits
[[nodiscard]] Motion moved(const Motion& motion, const Controls& wanted, double wheelbase_m,
                           const MotionLimits& limits, double step_s);

/// Follows one plan after the other. Accelerates so that the vehicle comes as near as possible to
/// the places where the plan wants it in half a second and in one second. Steers by pure pursuit:
/// towards a point of the path some metres ahead.
class PlanFollower {
 public:
  explicit PlanFollower(const Box& vehicle, const MotionLimits& limits = {});

  /// Takes a plan that begins at the present pose.
  void follow(const Plan& plan);
  /// Moves the vehicle. It stops without a plan, at the end of its plan, and if its plan covers
  /// less than 0.4 m in its first second.
  void step(double step_s);

  [[nodiscard]] const Motion& motion() const { return motion_; }

 private:
  static constexpr std::size_t kKnots = kPlanPoints + 1;

  [[nodiscard]] double planned_m(double time_s) const;
  [[nodiscard]] std::array<double, 2> point_at(double along_m) const;
  [[nodiscard]] double wanted_accel() const;
  [[nodiscard]] double wanted_steer() const;
  void advance_along();

  Motion motion_;
  double wheelbase_m_;
  MotionLimits limits_;
  bool has_plan_ = false;
  double since_plan_s_ = 0.0;
  /// Distance along the plan's path to the place that is nearest to the vehicle.
  double along_m_ = 0.0;
  /// The path in coordinates of the map: the vehicle's position when it got the plan, then the
  /// points of the plan.
  std::array<std::array<double, 2>, kKnots> path_{};
  std::array<double, kKnots> path_m_{};  ///< length of the path up to each entry of path_
};

}  // namespace traffic::driving
