// Computes the line along which the IDM driver moves a vehicle along its route (route_path.h).
#include "route_path.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "index.h"
#include "traffic/driving/geometry.h"

namespace traffic::driving {
namespace {

using Edges = std::span<const std::int32_t>;

constexpr double kNear_m = 8.0;
constexpr int kNoWay = std::numeric_limits<int>::max() / 2;
/// Number of edges of the route for which lane changes are planned.
constexpr std::size_t kEdgesAhead = 5;

const Link& link_of(const RoadIndex& roads, std::int32_t number) {
  return roads.map().links[as_index(number)];
}

/// Minimum number of lane changes that a vehicle needs from each lane of the first edge of a route
/// to the end of the route.
struct LaneCosts {
  std::vector<int> staying;  ///< [lanes of the edge] if the vehicle stays on the lane to its end
  std::vector<int> best;     ///< [lanes of the edge] if the vehicle may also change on this edge
};

LaneCosts costs_of(const RoadIndex& roads, Edges route) {
  const auto lanes = roads.lanes_of(route.front());
  LaneCosts costs;
  costs.staying.assign(lanes.size(), 0);
  if (route.size() > 1) {
    const LaneCosts next = costs_of(roads, route.subspan(1));
    const auto next_lanes = roads.lanes_of(route[1]);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      costs.staying[i] = kNoWay;
      for (const std::int32_t number : roads.links_from(lanes[i])) {
        const auto to = std::ranges::find(next_lanes, link_of(roads, number).to_lane);
        if (to == next_lanes.end()) continue;
        costs.staying[i] = std::min(costs.staying[i],
                                    next.best[static_cast<std::size_t>(to - next_lanes.begin())]);
      }
    }
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    int best = kNoWay;
    for (std::size_t j = 0; j < lanes.size(); ++j) {
      best = std::min(best, costs.staying[j] + static_cast<int>(i > j ? i - j : j - i));
    }
    costs.best.push_back(best);
  }
  return costs;
}

Edges near_edges(Edges route) { return route.first(std::min(route.size(), kEdgesAhead)); }

/// The link from a lane of the route's first edge to the next edge; of several links, the one after
/// which the vehicle needs the fewest lane changes. Null if the lane does not lead to the next
/// edge.
const Link* best_link(const RoadIndex& roads, Edges route, std::int32_t lane) {
  if (route.size() < 2) return nullptr;
  const auto next_lanes = roads.lanes_of(route[1]);
  const LaneCosts next = costs_of(roads, near_edges(route.subspan(1)));
  const Link* best = nullptr;
  int best_cost = kNoWay;
  for (const std::int32_t number : roads.links_from(lane)) {
    const Link& link = link_of(roads, number);
    const auto to = std::ranges::find(next_lanes, link.to_lane);
    if (to == next_lanes.end()) continue;
    const int cost = next.best[static_cast<std::size_t>(to - next_lanes.begin())];
    if (best != nullptr && cost >= best_cost) continue;
    best = &link;
    best_cost = cost;
  }
  return best;
}

/// Builds a path: appends samples of one lane after the other until the path has the given length.
class PathBuilder {
 public:
  PathBuilder(const RoadIndex& roads, double length_m) : roads_(roads), length_m_(length_m) {}

  /// @return false if the path is long enough
  bool add_lane(std::int32_t lane, double from_m) {
    const double end_m = roads_.length_m(lane);
    const double limit_mps = roads_.map().speed_limit_mps[as_index(lane)];
    for (double at_m = from_m + next_m_ - reached_m_; at_m < end_m; at_m += RoutePath::kStep_m) {
      path.points.push_back({.pose = roads_.pose_at(lane, at_m), .speed_limit_mps = limit_mps});
      next_m_ += RoutePath::kStep_m;
      if (next_m_ > length_m_) return false;
    }
    reached_m_ += end_m - from_m;
    return true;
  }
  void add_stop_line(std::int32_t signal) { path.stop_lines.push_back({reached_m_, signal}); }

  RoutePath path;

 private:
  const RoadIndex& roads_;
  double length_m_;
  double reached_m_ = 0.0;  ///< length of the lanes so far
  double next_m_ = 0.0;     ///< distance of the next sample along the path
};

void follow_lanes(const RoadIndex& roads, Edges route, std::int32_t lane, double from_m,
                  PathBuilder& builder) {
  while (builder.add_lane(lane, from_m)) {
    from_m = 0.0;
    if (route.size() < 2) return;  // the vehicle arrives
    if (roads.map().kind[as_index(lane)] == LaneKind::kConnector) {
      lane = roads.next_lane(lane, route[1]);
      if (lane < 0) return;
      if (roads.map().kind[as_index(lane)] == LaneKind::kRoad) route = route.subspan(1);
      continue;
    }
    const Link* link = best_link(roads, route, lane);
    if (link == nullptr) {
      builder.path.is_dead_end = true;
      return;
    }
    if (link->signal >= 0) builder.add_stop_line(link->signal);
    if (link->connector >= 0) {
      lane = link->connector;
    } else {
      lane = link->to_lane;
      route = route.subspan(1);
    }
  }
}

}  // namespace

Pose RoutePath::pose_at(double along_m) const {
  const double last = static_cast<double>(points.size()) - 2.0;
  const auto before =
      static_cast<std::size_t>(std::clamp(along_m / kStep_m, 0.0, std::max(last, 0.0)));
  const Pose& from = points[before].pose;
  if (points.size() < 2) {
    return {.x_m = from.x_m + along_m * std::cos(from.heading_rad),
            .y_m = from.y_m + along_m * std::sin(from.heading_rad),
            .heading_rad = from.heading_rad};
  }
  const Pose& to = points[before + 1].pose;
  const double part = along_m / kStep_m - static_cast<double>(before);
  return {.x_m = from.x_m + part * (to.x_m - from.x_m),
          .y_m = from.y_m + part * (to.y_m - from.y_m),
          .heading_rad = from.heading_rad};
}

std::optional<OnLane> place_on_route(const RoadIndex& roads, const View& view) {
  const Pose& pose = view.ego[0].pose;
  std::optional<OnLane> best;
  const auto consider = [&](std::int32_t lane) {
    const OnLane seen = roads.project(lane, pose.x_m, pose.y_m);
    const double turned_rad = std::fabs(wrapped_rad(pose.heading_rad - seen.heading_rad));
    if (seen.distance_m > kNear_m || turned_rad > 0.5 * std::numbers::pi) return;
    // Where the ways over a junction part, the way in the vehicle's direction counts as nearer.
    const auto cost = [](const OnLane& one, double angle_rad) {
      return one.distance_m + 2.0 * angle_rad;
    };
    if (best && cost(seen, turned_rad) >=
                    cost(*best, std::fabs(wrapped_rad(pose.heading_rad - best->heading_rad)))) {
      return;
    }
    best = seen;
  };
  for (const std::int32_t lane : roads.lanes_of(view.route[0])) consider(lane);
  if (view.route.size() > 1) {
    for (const JunctionLane& over : roads.junction_lanes(view.route[0], view.route[1])) {
      consider(over.lane);
    }
  }
  return best;
}

std::int32_t lane_to_change_to(const RoadIndex& roads, Edges route, std::int32_t lane) {
  const auto lanes = roads.lanes_of(route.front());
  const auto at = std::ranges::find(lanes, lane);
  if (at == lanes.end()) return -1;  // the lane is inside a junction
  const auto i = static_cast<std::size_t>(at - lanes.begin());
  const LaneCosts costs = costs_of(roads, near_edges(route));
  if (costs.staying[i] == costs.best[i] || costs.best[i] >= kNoWay) return -1;
  const bool to_higher = i + 1 < lanes.size() && costs.best[i + 1] < costs.best[i];
  if (to_higher) return lanes[i + 1];
  return i > 0 && costs.best[i - 1] < costs.best[i] ? lanes[i - 1] : -1;
}

RoutePath path_along(const RoadIndex& roads, Edges route, std::int32_t lane, const Pose& vehicle,
                     double length_m, double return_m) {
  const OnLane start = roads.project(lane, vehicle.x_m, vehicle.y_m);
  PathBuilder builder(roads, length_m);
  follow_lanes(roads, route, lane, start.along_m, builder);
  RoutePath path = std::move(builder.path);
  if (path.points.empty()) {
    path.points.push_back(
        {.pose = vehicle, .speed_limit_mps = roads.map().speed_limit_mps[as_index(lane)]});
    return path;
  }
  for (std::size_t i = 0; i < path.points.size(); ++i) {
    Pose& pose = path.points[i].pose;
    const double along_m = RoutePath::kStep_m * static_cast<double>(i);
    const double to_left_m = start.to_left_m * std::exp(-along_m / return_m);
    pose.x_m -= to_left_m * std::sin(pose.heading_rad);
    pose.y_m += to_left_m * std::cos(pose.heading_rad);
  }
  for (std::size_t i = 0; i + 1 < path.points.size(); ++i) {
    const Pose& next = path.points[i + 1].pose;
    Pose& pose = path.points[i].pose;
    pose.heading_rad = std::atan2(next.y_m - pose.y_m, next.x_m - pose.x_m);
  }
  return path;
}

}  // namespace traffic::driving
