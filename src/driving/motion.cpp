// Moves a vehicle along plans within the limits of a car (motion.h).
#include "traffic/driving/motion.h"

#include <algorithm>
#include <cmath>

#include "traffic/driving/geometry.h"

namespace traffic::driving {
namespace {

/// Distance between the axles of a passenger car, as a share of its length.
constexpr double kWheelbaseShare = 0.58;
/// PlanFollower steers towards a point of the plan at least this far ahead, and farther at high
/// speeds.
constexpr double kMinLookAhead_m = 3.5;
constexpr double kLookAhead_s = 0.7;
/// A plan that covers less than kStand_m in its first second makes the vehicle stand. A neural
/// network seldom plans exactly 0 m/s, and many slow plans would move a waiting vehicle over the
/// stop line. TransFuser (Chitta et al. 2023) brakes below the same speed, 0.4 m/s.
constexpr double kStand_m = 0.4;
constexpr double kStand_s = 1.0;
/// If a plan is shorter than this, the wheels keep their angle.
constexpr double kMinPath_m = 0.3;

double approached(double from, double to, double most) {
  return from + std::clamp(to - from, -most, most);
}

}  // namespace

double wheelbase_m(double length_m) { return kWheelbaseShare * length_m; }

Motion moved(const Motion& motion, const Controls& wanted, double wheelbase_m,
             const MotionLimits& limits, double step_s) {
  Motion next = motion;
  const double accel_mps2 =
      std::clamp(wanted.accel_mps2, -limits.max_decel_mps2, limits.max_accel_mps2);
  const double steer_rad =
      std::clamp(wanted.steer_rad, -limits.max_steer_rad, limits.max_steer_rad);
  next.accel_mps2 = approached(motion.accel_mps2, accel_mps2, limits.max_accel_rate_mps3 * step_s);
  next.steer_rad = approached(motion.steer_rad, steer_rad, limits.max_steer_rate_radps * step_s);
  next.speed_mps = std::max(0.0, motion.speed_mps + next.accel_mps2 * step_s);
  if (next.speed_mps == 0.0) next.accel_mps2 = -motion.speed_mps / step_s;
  const double driven_m = 0.5 * (motion.speed_mps + next.speed_mps) * step_s;
  // The centre lies halfway between the axles, so it moves at an angle to the heading in a turn.
  const double slip_rad = std::atan(0.5 * std::tan(next.steer_rad));
  const double turned_rad = driven_m * std::sin(slip_rad) / (0.5 * wheelbase_m);
  const double course_rad = motion.pose.heading_rad + slip_rad + 0.5 * turned_rad;
  next.pose = {.x_m = motion.pose.x_m + driven_m * std::cos(course_rad),
               .y_m = motion.pose.y_m + driven_m * std::sin(course_rad),
               .heading_rad = wrapped_rad(motion.pose.heading_rad + turned_rad)};
  return next;
}

PlanFollower::PlanFollower(const Box& vehicle, const MotionLimits& limits)
    : motion_{.pose = vehicle.pose, .speed_mps = vehicle.speed_mps},
      wheelbase_m_(wheelbase_m(vehicle.length_m)),
      limits_(limits) {}

void PlanFollower::follow(const Plan& plan) {
  has_plan_ = true;
  since_plan_s_ = 0.0;
  along_m_ = 0.0;
  path_[0] = {motion_.pose.x_m, motion_.pose.y_m};
  const double c = std::cos(motion_.pose.heading_rad);
  const double s = std::sin(motion_.pose.heading_rad);
  std::array<double, 2> ahead = {c, s};
  for (std::size_t i = 0; i < kPlanPoints; ++i) {
    const Point& seen = plan.points[i];
    const double dx = motion_.pose.x_m + c * seen.x_m - s * seen.y_m - path_[i][0];
    const double dy = motion_.pose.y_m + s * seen.x_m + c * seen.y_m - path_[i][1];
    path_[i + 1] = path_[i];
    path_m_[i + 1] = path_m_[i];
    // The vehicle does not drive backwards: it waits until the points are ahead of it again.
    if (ahead[0] * dx + ahead[1] * dy <= 0.0) continue;
    const double piece_m = std::hypot(dx, dy);
    ahead = {dx / piece_m, dy / piece_m};
    path_[i + 1] = {path_[i][0] + dx, path_[i][1] + dy};
    path_m_[i + 1] += piece_m;
  }
}

void PlanFollower::step(double step_s) {
  Controls wanted{.accel_mps2 = -limits_.max_decel_mps2, .steer_rad = motion_.steer_rad};
  if (has_plan_ && planned_m(kStand_s) >= kStand_m)
    wanted = {.accel_mps2 = wanted_accel(), .steer_rad = wanted_steer()};
  motion_ = moved(motion_, wanted, wheelbase_m_, limits_, step_s);
  since_plan_s_ += step_s;
  if (has_plan_) advance_along();
}

/// Distance along the path that the vehicle should have driven time_s after the plan's begin. The
/// speed is constant between two points of the plan. After the last point the vehicle should stand.
double PlanFollower::planned_m(double time_s) const {
  const double knot = std::clamp(time_s / kFrame_s, 0.0, static_cast<double>(kPlanPoints));
  const auto before = std::min(static_cast<std::size_t>(knot), kPlanPoints - 1);
  const double part = knot - static_cast<double>(before);
  return path_m_[before] + part * (path_m_[before + 1] - path_m_[before]);
}

/// The point of the path at a distance along it. Beyond its end the path goes straight on.
std::array<double, 2> PlanFollower::point_at(double along_m) const {
  std::size_t after = 1;
  while (after < kPlanPoints && path_m_[after] < along_m) ++after;
  // A segment of almost no length has no direction, so an earlier, longer segment gives it.
  while (after > 1 && path_m_[after] - path_m_[after - 1] < 1e-3) --after;
  const double piece_m = std::max(path_m_[after] - path_m_[after - 1], 1e-3);
  const double part = (along_m - path_m_[after - 1]) / piece_m;
  return {path_[after - 1][0] + part * (path_[after][0] - path_[after - 1][0]),
          path_[after - 1][1] + part * (path_[after][1] - path_[after - 1][1])};
}

/// The constant acceleration with which the vehicle comes nearest to the places that the plan wants
/// in half a second and in one second (least squares).
double PlanFollower::wanted_accel() const {
  constexpr std::array kAhead_s = {0.5, 1.0};
  double products = 0.0;
  double squares = 0.0;
  for (const double ahead_s : kAhead_s) {
    const double way_m = planned_m(since_plan_s_ + ahead_s) - along_m_;
    const double half_square = 0.5 * ahead_s * ahead_s;
    products += half_square * (way_m - motion_.speed_mps * ahead_s);
    squares += half_square * half_square;
  }
  return products / squares;
}

double PlanFollower::wanted_steer() const {
  if (path_m_.back() < kMinPath_m) return motion_.steer_rad;
  const double ahead_m = std::max(kMinLookAhead_m, kLookAhead_s * motion_.speed_mps);
  const auto target = point_at(along_m_ + ahead_m);
  const double c = std::cos(motion_.pose.heading_rad);
  const double s = std::sin(motion_.pose.heading_rad);
  const double dx = target[0] - (motion_.pose.x_m - 0.5 * wheelbase_m_ * c);
  const double dy = target[1] - (motion_.pose.y_m - 0.5 * wheelbase_m_ * s);
  const double to_left_m = c * dy - s * dx;
  return std::atan(2.0 * wheelbase_m_ * to_left_m / (dx * dx + dy * dy));
}

/// Finds the place on the path that is nearest to the vehicle. It is never before the place of the
/// previous step.
void PlanFollower::advance_along() {
  double nearest_m2 = INFINITY;
  double best_m = along_m_;
  for (std::size_t i = 0; i < kPlanPoints; ++i) {
    const double piece_m = path_m_[i + 1] - path_m_[i];
    const bool is_last = i + 1 == kPlanPoints;  // this segment has no end: it goes straight on
    if ((path_m_[i + 1] < along_m_ && !is_last) || piece_m < 1e-6) continue;
    const double ux = (path_[i + 1][0] - path_[i][0]) / piece_m;
    const double uy = (path_[i + 1][1] - path_[i][1]) / piece_m;
    const double dx = motion_.pose.x_m - path_[i][0];
    const double dy = motion_.pose.y_m - path_[i][1];
    double part_m = std::max(ux * dx + uy * dy, along_m_ - path_m_[i]);
    if (!is_last) part_m = std::min(part_m, piece_m);
    const double off_m2 = std::pow(dx - part_m * ux, 2) + std::pow(dy - part_m * uy, 2);
    if (off_m2 < nearest_m2) {
      nearest_m2 = off_m2;
      best_m = path_m_[i] + part_m;
    }
  }
  along_m_ = best_m;
}

}  // namespace traffic::driving
