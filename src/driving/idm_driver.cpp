// A driver that follows its route by the intelligent driver model (IDM). It keeps its distance,
// stops at red lights, slows down for turns and changes lanes.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "route_path.h"
#include "signal_letters.h"
#include "traffic/driving/geometry.h"
#include "traffic/driving/rule_drivers.h"

namespace traffic::driving {
namespace {

constexpr double kStep_s = 0.1;
/// Space in metres that the driver keeps free on either side when it looks for vehicles in its way.
constexpr float kSide_m = 0.2F;
/// The front stops this far before a stop line.
constexpr double kBeforeLine_m = 1.0;
constexpr double kFarthest_m = 1e9;

/// Something ahead on the path that the ego (the vehicle that is driven) must not reach.
struct Obstacle {
  double along_m = kFarthest_m;  ///< place of the ego's centre when it touches the obstacle
  double speed_mps = 0.0;
};

/// The obstacles, limits and turns ahead of a driver on one path.
class Outlook {
 public:
  Outlook(const View& view, const RoutePath& path, const IdmParameters& parameters)
      : view_(view), path_(path), parameters_(parameters), ego_(view.ego[0]) {
    ego_.width_m += 2.0F * kSide_m;
    add_lights();
    add_vehicles();
    if (path.is_dead_end) {
      obstacles_.push_back({path.length_m() - 0.5 * ego_.length_m - kBeforeLine_m, 0.0});
    }
  }

  /// The smallest of the accelerations that the obstacles, speed limits and turns require.
  [[nodiscard]] double accel(double along_m, double speed_mps, double time_s) const {
    const double wanted_mps = std::max(wanted_speed(along_m), 0.1);
    const IdmParameters& p = parameters_;
    const double free = p.accel_mps2 * (1.0 - std::pow(speed_mps / wanted_mps, 4));
    double lowest = std::max(free, -p.decel_mps2);
    for (const Obstacle& obstacle : obstacles_) {
      const double gap_m = obstacle.along_m + obstacle.speed_mps * time_s - along_m;
      const double closing_mps = speed_mps - obstacle.speed_mps;
      const double wanted_m =
          p.min_gap_m + std::max(0.0, speed_mps * p.time_gap_s +
                                          speed_mps * closing_mps /
                                              (2.0 * std::sqrt(p.accel_mps2 * p.decel_mps2)));
      const double ratio = wanted_m / std::max(gap_m, 0.1);
      lowest = std::min(lowest, std::min(free, p.accel_mps2) - p.accel_mps2 * ratio * ratio);
    }
    return std::clamp(lowest, -p.max_decel_mps2, p.accel_mps2);
  }

 private:
  /// The highest speed from which the vehicle can slow down in time for all speed limits and turns
  /// ahead.
  [[nodiscard]] double wanted_speed(double along_m) const {
    constexpr std::size_t kSpan = 4;  // the direction changes over some metres
    const auto first = static_cast<std::size_t>(std::max(0.0, along_m / RoutePath::kStep_m));
    double wanted_mps = path_.points[std::min(first, path_.points.size() - 1)].speed_limit_mps;
    for (std::size_t i = first; i + kSpan < path_.points.size(); ++i) {
      const double turned_rad = std::fabs(
          wrapped_rad(path_.points[i + kSpan].pose.heading_rad - path_.points[i].pose.heading_rad));
      const double curvature = turned_rad / (kSpan * RoutePath::kStep_m);
      const double turn_mps = std::sqrt(parameters_.lateral_accel_mps2 / std::max(curvature, 1e-3));
      const double there_mps = std::min(turn_mps, path_.points[i].speed_limit_mps);
      const double way_m = std::max(0.0, RoutePath::kStep_m * static_cast<double>(i) - along_m);
      wanted_mps = std::min(wanted_mps, std::sqrt(there_mps * there_mps +
                                                  2.0 * 0.7 * parameters_.decel_mps2 * way_m));
    }
    return wanted_mps;
  }

  void add_lights() {
    for (const StopLine& line : path_.stop_lines) {
      const double stop_m = line.along_m - 0.5 * ego_.length_m - kBeforeLine_m;
      if (stop_m < -2.0) continue;  // the front is past the line
      const std::uint8_t letter = view_.signals[static_cast<std::size_t>(line.signal)];
      const double speed_mps = ego_.speed_mps;
      const bool can_stop = speed_mps * speed_mps / (2.0 * parameters_.decel_mps2) < stop_m;
      // The model stops min_gap_m before an obstacle, so the obstacle lies behind the place to
      // stop.
      if (shows_red(letter) || (shows_yellow(letter) && can_stop)) {
        obstacles_.push_back({stop_m + parameters_.min_gap_m, 0.0});
      }
    }
  }

  void add_vehicles() {
    for (const Box& other : view_.others[0]) {
      const double apart_m =
          std::hypot(other.pose.x_m - ego_.pose.x_m, other.pose.y_m - ego_.pose.y_m);
      if (apart_m > path_.length_m() + 30.0) continue;
      if (const auto touch_m = first_touch(other)) {
        const double turned_rad = other.pose.heading_rad - path_.pose_at(*touch_m).heading_rad;
        obstacles_.push_back({*touch_m, std::max(0.0, other.speed_mps * std::cos(turned_rad))});
      } else if (other.speed_mps > 0.5) {
        add_crossing(other);
      }
    }
  }

  /// Adds a vehicle that will cross the path as an obstacle if it reaches the path first.
  void add_crossing(const Box& other) {
    constexpr std::array kAhead_s = {0.5, 1.0, 1.5, 2.0, 2.5, 3.0};
    for (const double ahead_s : kAhead_s) {
      const auto touch_m = first_touch(moved_on(other, ahead_s));
      if (!touch_m) continue;
      const double turned_rad =
          std::fabs(wrapped_rad(other.pose.heading_rad - path_.pose_at(*touch_m).heading_rad));
      const double own_s = *touch_m / std::max<double>(ego_.speed_mps, 2.0);
      const bool crosses = turned_rad > std::numbers::pi / 6.0;
      const bool comes_first = ahead_s <= own_s + 0.25 && own_s < ahead_s + 1.5;
      if (crosses && comes_first) obstacles_.push_back({*touch_m, 0.0});
      return;
    }
  }

  /// How far the ego can drive until it touches a box; nullopt if the box is not in its way. Boxes
  /// beside or behind the ego are not in its way.
  [[nodiscard]] std::optional<double> first_touch(const Box& other) const {
    const double reach_m =
        0.5 * (std::hypot(ego_.length_m, ego_.width_m) + std::hypot(other.length_m, other.width_m));
    Box there = ego_;
    for (std::size_t i = 1; i < path_.points.size(); ++i) {
      there.pose = path_.points[i].pose;
      const double dx = other.pose.x_m - there.pose.x_m;
      const double dy = other.pose.y_m - there.pose.y_m;
      if (dx * dx + dy * dy > reach_m * reach_m || !overlap(there, other)) continue;
      if (to_frame(ego_.pose, other.pose.x_m, other.pose.y_m).x_m <= 0.0F) return std::nullopt;
      return RoutePath::kStep_m * static_cast<double>(i - 1);
    }
    return std::nullopt;
  }

  const View& view_;
  const RoutePath& path_;
  const IdmParameters& parameters_;
  Box ego_;
  std::vector<Obstacle> obstacles_;
};

/// Whether a lane beside the ego has enough free space for it.
bool has_gap(const RoadIndex& roads, const View& view, std::int32_t lane) {
  const Box& ego = view.ego[0];
  const double own_m = roads.project(lane, ego.pose.x_m, ego.pose.y_m).along_m;
  for (const Box& other : view.others[0]) {
    const OnLane seen = roads.project(lane, other.pose.x_m, other.pose.y_m);
    if (seen.distance_m > 0.5 * roads.map().width_m[static_cast<std::size_t>(lane)]) continue;
    const double ahead_m = seen.along_m - own_m;
    const double apart_m = std::fabs(ahead_m) - 0.5 * (ego.length_m + other.length_m);
    const double closing_mps =
        ahead_m > 0.0 ? ego.speed_mps - other.speed_mps : other.speed_mps - ego.speed_mps;
    if (apart_m < 2.0 + 1.5 * std::max(0.0, closing_mps)) return false;
  }
  return true;
}

}  // namespace

std::vector<Plan> IdmDriver::plan(std::span<const View> views) {
  std::vector<Plan> plans;
  plans.reserve(views.size());
  for (const View& view : views) {
    if (view.map != map_) {
      map_ = view.map;
      // The map belongs to the caller, so this pointer does not own it.
      roads_ = std::make_unique<RoadIndex>(
          std::shared_ptr<const RoadMap>(std::shared_ptr<const RoadMap>(), view.map));
    }
    plans.push_back(plan_one(view));
  }
  return plans;
}

Plan IdmDriver::plan_one(const View& view) const {
  const Box& ego = view.ego[0];
  Plan plan;
  const auto place = place_on_route(*roads_, view);
  if (!place) return plan;  // the ego is not near its route: it stops
  const std::int32_t change = lane_to_change_to(*roads_, view.route, place->lane);
  const std::int32_t lane = change >= 0 && has_gap(*roads_, view, change) ? change : place->lane;
  const double look_ahead_m = 20.0 + 6.0 * ego.speed_mps;
  const double return_m = std::max(4.0, static_cast<double>(ego.speed_mps));
  const RoutePath path = path_along(*roads_, view.route, lane, ego.pose, look_ahead_m, return_m);
  const Outlook outlook(view, path, parameters_);
  double along_m = 0.0;
  double speed_mps = ego.speed_mps;
  constexpr auto kStepsEach = static_cast<int>(kFrame_s / kStep_s + 0.5);
  for (std::size_t p = 0; p < kPlanPoints; ++p) {
    for (int step = 0; step < kStepsEach; ++step) {
      const double time_s = kStep_s * static_cast<double>(static_cast<int>(p) * kStepsEach + step);
      const double next_mps =
          std::max(0.0, speed_mps + kStep_s * outlook.accel(along_m, speed_mps, time_s));
      along_m += 0.5 * kStep_s * (speed_mps + next_mps);
      speed_mps = next_mps;
    }
    const Pose there = path.pose_at(along_m);
    plan.points[p] = to_frame(ego.pose, there.x_m, there.y_m);
  }
  return plan;
}

}  // namespace traffic::driving
