// A driver that brakes where another driver's plan would lead into a vehicle (guarded_driver.h).
#include "traffic/driving/guarded_driver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/driving/geometry.h"

namespace traffic::driving {
namespace {

// The guard checks a plan at a number of future times, the looks.
constexpr int kLooksPerFrame = 2;
constexpr std::size_t kLooks = kPlanPoints * kLooksPerFrame;  ///< times in the span of a plan
constexpr double kLook_s = kFrame_s / kLooksPerFrame;
/// Space that the ego (the vehicle that is driven) keeps free before its front and on either side.
constexpr float kFreeFront_m = 1.0F;
constexpr float kFreeSide_m = 0.2F;
/// A vehicle that crosses the ego's way may be there this much earlier or later than expected.
constexpr double kSlack_s = 0.5;
/// A vehicle crosses the ego's way if their directions differ by more than this.
constexpr double kCrosses_rad = std::numbers::pi / 6.0;
/// The decelerations that the guard tries, in this order. If none avoids a collision, the ego
/// brakes with the last one.
constexpr std::array kDecels_mps2 = {1.5, 3.0, 4.5, 6.0, 8.0};

/// Distance along the way of a plan at each of the times for which the guard looks ahead. Index 0
/// is the present, and the times are kLook_s apart.
using Profile = std::array<double, kLooks + 1>;

/// The way of a plan, in the coordinate system of the ego.
class Way {
 public:
  explicit Way(const Plan& plan) {
    double heading_rad = 0.0;
    poses_[0] = {};
    for (std::size_t p = 0; p < kPlanPoints; ++p) {
      const double dx = plan.points[p].x_m - poses_[p].x_m;
      const double dy = plan.points[p].y_m - poses_[p].y_m;
      const double moved_m = std::hypot(dx, dy);
      constexpr double kHasDirection_m = 0.3;
      if (moved_m > kHasDirection_m) heading_rad = std::atan2(dy, dx);
      poses_[p + 1] = {plan.points[p].x_m, plan.points[p].y_m, heading_rad};
      along_m_[p + 1] = along_m_[p] + moved_m;
    }
  }

  [[nodiscard]] Profile planned() const {
    Profile profile{};
    for (std::size_t look = 1; look <= kLooks; ++look) {
      const double knot = static_cast<double>(look) / kLooksPerFrame;
      const auto before = std::min(static_cast<std::size_t>(knot), kPlanPoints - 1);
      profile[look] =
          std::lerp(along_m_[before], along_m_[before + 1], knot - static_cast<double>(before));
    }
    return profile;
  }

  [[nodiscard]] Pose pose_at(double along_m) const {
    std::size_t after = 1;
    while (after < kPlanPoints && along_m_[after] < along_m) ++after;
    const double length_m = along_m_[after] - along_m_[after - 1];
    const double share = length_m > 0.0 ? (along_m - along_m_[after - 1]) / length_m : 0.0;
    return {std::lerp(poses_[after - 1].x_m, poses_[after].x_m, share),
            std::lerp(poses_[after - 1].y_m, poses_[after].y_m, share), poses_[after].heading_rad};
  }

 private:
  std::array<Pose, kPlanPoints + 1> poses_;
  std::array<double, kPlanPoints + 1> along_m_{};
};

/// Distances along the way if the ego brakes from now on. At each look the distance is at most that
/// of the plan.
Profile braked(const Profile& planned, double speed_mps, double decel_mps2) {
  Profile profile = planned;
  const double stop_s = speed_mps / decel_mps2;
  for (std::size_t look = 1; look <= kLooks; ++look) {
    const double t = std::min(kLook_s * static_cast<double>(look), stop_s);
    profile[look] = std::min(planned[look], speed_mps * t - 0.5 * decel_mps2 * t * t);
  }
  return profile;
}

/// The vehicles that the ego could run into, in its coordinate system. Vehicles behind it in about
/// its direction do not count.
class Others {
 public:
  explicit Others(const View& view) : ego_(view.ego[0]) {
    for (const Box& box : view.others[0]) {
      const Point seen = to_frame(ego_.pose, box.pose.x_m, box.pose.y_m);
      const double heading_rad = wrapped_rad(box.pose.heading_rad - ego_.pose.heading_rad);
      constexpr double kReach_m = 80.0;
      const bool is_behind = seen.x_m < 0.0F && std::fabs(heading_rad) < kCrosses_rad;
      if (is_behind || std::hypot(seen.x_m, seen.y_m) > kReach_m) continue;
      Box other = box;
      other.pose = {seen.x_m, seen.y_m, heading_rad};
      if (!overlap(grown(Pose{}), other)) boxes_.push_back(other);
    }
  }

  /// Whether the ego touches none of these vehicles if it drives along the way with this profile.
  [[nodiscard]] bool are_clear_of(const Way& way, const Profile& profile) const {
    for (std::size_t look = 1; look <= kLooks; ++look) {
      const Box ego = grown(way.pose_at(profile[look]));
      const double time_s = kLook_s * static_cast<double>(look);
      const bool moves = profile[look] - profile[look - 1] > 0.01;
      for (const Box& other : boxes_) {
        const bool crosses =
            std::fabs(wrapped_rad(other.pose.heading_rad - ego.pose.heading_rad)) > kCrosses_rad;
        if (overlap(ego, moved_on(other, time_s))) return false;
        if (crosses && moves && other.speed_mps > 0.5F &&
            (overlap(ego, moved_on(other, time_s + kSlack_s)) ||
             overlap(ego, moved_on(other, std::max(0.0, time_s - kSlack_s))))) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  /// The ego at a pose, enlarged by the space that it keeps free.
  [[nodiscard]] Box grown(const Pose& pose) const {
    Box box = ego_;
    box.length_m += kFreeFront_m;
    box.width_m += 2.0F * kFreeSide_m;
    box.pose = {pose.x_m + 0.5 * kFreeFront_m * std::cos(pose.heading_rad),
                pose.y_m + 0.5 * kFreeFront_m * std::sin(pose.heading_rad), pose.heading_rad};
    return box;
  }

  Box ego_;
  std::vector<Box> boxes_;
};

}  // namespace

Plan guarded(const View& view, const Plan& plan) {
  const Way way(plan);
  const Others others(view);
  const Profile planned = way.planned();
  if (others.are_clear_of(way, planned)) return plan;
  Profile profile = planned;
  for (const double decel_mps2 : kDecels_mps2) {
    profile = braked(planned, view.ego[0].speed_mps, decel_mps2);
    if (others.are_clear_of(way, profile)) break;
  }
  Plan safe;
  for (std::size_t p = 0; p < kPlanPoints; ++p) {
    const Pose there = way.pose_at(profile[kLooksPerFrame * (p + 1)]);
    safe.points[p] = {static_cast<float>(there.x_m), static_cast<float>(there.y_m)};
  }
  return safe;
}

GuardedDriver::GuardedDriver(std::unique_ptr<Driver> driver) : driver_(std::move(driver)) {
  TRAFFIC_CHECK(driver_ != nullptr, "a guarded driver needs a driver");
}

std::vector<Plan> GuardedDriver::plan(std::span<const View> views) {
  std::vector<Plan> plans = driver_->plan(views);
  for (std::size_t i = 0; i < plans.size(); ++i) plans[i] = guarded(views[i], plans[i]);
  return plans;
}

}  // namespace traffic::driving
