/// The kinematic bicycle and the follower of plans.
#include "traffic/driving/motion.h"

#include <cmath>
#include <functional>
#include <numbers>

#include "traffic/driving/geometry.h"

namespace traffic::driving {
namespace {

constexpr double kStep_s = 0.1;
constexpr float kLength_m = 5.0F;

Box car(double speed_mps) {
  return {.pose = {},
          .length_m = kLength_m,
          .width_m = 1.8F,
          .speed_mps = static_cast<float>(speed_mps)};
}

using Course = std::function<Pose(double time_s)>;

/// The plan that a driver on this course would make now.
Plan plan_on(const Course& course, double now_s, const Pose& pose) {
  Plan plan;
  for (std::size_t i = 0; i < kPlanPoints; ++i) {
    const Pose at = course(now_s + kFrame_s * static_cast<double>(i + 1));
    plan.points[i] = to_frame(pose, at.x_m, at.y_m);
  }
  return plan;
}

/// Largest distance from the course while a follower replans every frame.
double largest_error_m(const Course& course, double speed_mps, int frames) {
  PlanFollower follower(car(speed_mps));
  double largest_m = 0.0;
  for (int frame = 0; frame < frames; ++frame) {
    follower.follow(plan_on(course, kFrame_s * frame, follower.motion().pose));
    for (int step = 1; step <= 5; ++step) {
      follower.step(kStep_s);
      const Pose want = course(kFrame_s * frame + kStep_s * step);
      const Pose& is = follower.motion().pose;
      largest_m = std::max(largest_m, std::hypot(want.x_m - is.x_m, want.y_m - is.y_m));
    }
  }
  return largest_m;
}

TEST(DrivingMotion, AConstantSteeringAngleDrivesACircle) {
  const double steer_rad = 0.3;
  const double base_m = wheelbase_m(kLength_m);
  // The rear axle turns on a circle of radius base / tan(steer); the centre is half a base ahead.
  const double radius_m = std::hypot(base_m / std::tan(steer_rad), 0.5 * base_m);
  Motion motion{.pose = {}, .speed_mps = 4.0, .accel_mps2 = 0.0, .steer_rad = steer_rad};
  const auto steps = static_cast<int>(std::lround(2.0 * std::numbers::pi * radius_m / 4.0 / 0.01));
  double farthest_m = 0.0;
  for (int i = 0; i < steps; ++i) {
    motion = moved(motion, {.accel_mps2 = 0.0, .steer_rad = steer_rad}, base_m, {}, 0.01);
    farthest_m = std::max(farthest_m, std::hypot(motion.pose.x_m, motion.pose.y_m));
  }
  EXPECT_NEAR(std::hypot(motion.pose.x_m, motion.pose.y_m), 0.0, 0.05)
      << "the vehicle must be back at the start";
  EXPECT_NEAR(farthest_m, 2.0 * radius_m, 0.01);
}

TEST(DrivingMotion, ControlsAreCutToTheLimitsAndTheirRates) {
  const MotionLimits limits;
  const Motion standing;
  const Motion full = moved(standing, {.accel_mps2 = 100.0, .steer_rad = 2.0}, 2.9, limits, 0.1);
  EXPECT_DOUBLE_EQ(full.accel_mps2, 0.1 * limits.max_accel_rate_mps3);
  EXPECT_DOUBLE_EQ(full.steer_rad, 0.1 * limits.max_steer_rate_radps);
  Motion motion = full;
  for (int i = 0; i < 20; ++i) {
    motion = moved(motion, {.accel_mps2 = 100.0, .steer_rad = 2.0}, 2.9, limits, 0.1);
  }
  EXPECT_DOUBLE_EQ(motion.accel_mps2, limits.max_accel_mps2);
  EXPECT_DOUBLE_EQ(motion.steer_rad, limits.max_steer_rad);
}

TEST(DrivingMotion, BrakingEndsWhenTheVehicleStands) {
  Motion motion{.pose = {}, .speed_mps = 10.0};
  double driven_m = 0.0;
  for (int i = 0; i < 30; ++i) {
    const double before_m = motion.pose.x_m;
    motion = moved(motion, {.accel_mps2 = -20.0, .steer_rad = 0.0}, 2.9, {}, 0.1);
    EXPECT_GE(motion.pose.x_m, before_m);
    driven_m = motion.pose.x_m;
  }
  EXPECT_DOUBLE_EQ(motion.speed_mps, 0.0);
  EXPECT_DOUBLE_EQ(motion.accel_mps2, 0.0);
  // Braking with 8 m/s2 takes 10^2 / (2 * 8) = 6.25 m. About 1.25 m more pass in the quarter of a
  // second in which the deceleration grows to this value.
  EXPECT_NEAR(driven_m, 7.5, 0.5);
}

TEST(DrivingMotion, AStraightPlanIsFollowedInTime) {
  const Course cruise = [](double t) { return Pose{.x_m = 10.0 * t}; };
  EXPECT_LT(largest_error_m(cruise, 10.0, 10), 0.01);
  const Course launch = [](double t) { return Pose{.x_m = 0.5 * 2.0 * t * t}; };
  EXPECT_LT(largest_error_m(launch, 0.0, 10), 0.35);
}

TEST(DrivingMotion, ATurnAtAJunctionIsFollowedWithinAHandsBreadth) {
  const double radius_m = 9.0;
  const double speed_mps = 5.0;
  const Course turn = [=](double t) {
    const double straight_m = 10.0;
    const double arc_m = 0.5 * std::numbers::pi * radius_m;
    const double s = speed_mps * t;
    if (s < straight_m) return Pose{.x_m = s};
    if (s < straight_m + arc_m) {
      const double angle = (s - straight_m) / radius_m;
      return Pose{.x_m = straight_m + radius_m * std::sin(angle),
                  .y_m = radius_m * (1.0 - std::cos(angle))};
    }
    return Pose{.x_m = straight_m + radius_m, .y_m = radius_m + s - straight_m - arc_m};
  };
  EXPECT_LT(largest_error_m(turn, speed_mps, 14), 0.35);
}

TEST(DrivingMotion, APlanThatStopsIsObeyed) {
  // The course brakes from 8 m/s with 2 m/s2, so the vehicle stands after 4 s and 16 m.
  const Course stop = [](double t) {
    const double s = std::min(t, 4.0);
    return Pose{.x_m = 8.0 * s - s * s};
  };
  EXPECT_LT(largest_error_m(stop, 8.0, 16), 0.3);
}

TEST(DrivingMotion, AVehicleStandsIfItsPlansAreSlowerThanAPedestrian) {
  PlanFollower follower(car(0.5));
  for (int frame = 0; frame < 20; ++frame) {
    Plan plan;
    for (std::size_t i = 0; i < kPlanPoints; ++i) {
      plan.points[i].x_m = 0.3F * static_cast<float>(kFrame_s) * static_cast<float>(i + 1);
    }
    follower.follow(plan);
    for (int step = 0; step < 5; ++step) follower.step(kStep_s);
  }
  EXPECT_DOUBLE_EQ(follower.motion().speed_mps, 0.0);
  EXPECT_LT(follower.motion().pose.x_m, 0.1);
}

TEST(DrivingMotion, AVehicleWithoutAPlanStops) {
  PlanFollower follower(car(5.0));
  for (int i = 0; i < 20; ++i) follower.step(kStep_s);
  EXPECT_DOUBLE_EQ(follower.motion().speed_mps, 0.0);
}

TEST(DrivingMotion, TheEndOfAPlanIsAStop) {
  PlanFollower follower(car(5.0));
  Plan plan;
  for (std::size_t i = 0; i < kPlanPoints; ++i) {
    plan.points[i] = {.x_m = 2.5F * static_cast<float>(i + 1), .y_m = 0.0F};
  }
  follower.follow(plan);
  for (int i = 0; i < 60; ++i) follower.step(kStep_s);
  EXPECT_NEAR(follower.motion().pose.x_m, 15.0, 0.5);
  EXPECT_NEAR(follower.motion().speed_mps, 0.0, 0.1);
}

TEST(DrivingMotion, AVehicleThatDrivesBeyondItsPlanKeepsItsDirection) {
  // At 20 m/s the plan of a vehicle that should stand within 6 m ends long before the vehicle can.
  PlanFollower follower(car(20.0));
  Plan plan;
  for (std::size_t i = 0; i < kPlanPoints; ++i) {
    plan.points[i] = {.x_m = static_cast<float>(i + 1), .y_m = 0.1F};
  }
  follower.follow(plan);
  double largest_rad = 0.0;
  for (int i = 0; i < 60; ++i) {
    follower.step(kStep_s);
    largest_rad = std::max(largest_rad, std::abs(follower.motion().pose.heading_rad));
  }
  EXPECT_GT(follower.motion().pose.x_m, 20.0);
  EXPECT_LT(largest_rad, 0.05);
}

}  // namespace
}  // namespace traffic::driving
