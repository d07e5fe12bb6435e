// RoadIndex: positions relative to lanes, and the ways over junctions (road_index.h).
#include "traffic/driving/road_index.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "index.h"
#include "traffic/driving/geometry.h"

namespace traffic::driving {
RoadIndex::RoadIndex(std::shared_ptr<const RoadMap> map) : index_(std::move(map)) {
  const RoadMap& roads = index_.map();
  along_m_.resize(roads.points.size());
  for (std::size_t lane = 0; lane < roads.num_lanes(); ++lane) {
    const auto begin = static_cast<std::size_t>(roads.lane_begin[lane]);
    const auto end = static_cast<std::size_t>(roads.lane_begin[lane + 1]);
    for (std::size_t p = begin + 1; p < end; ++p) {
      const Point& last = roads.points[p - 1];
      along_m_[p] = along_m_[p - 1] +
                    std::hypot(roads.points[p].x_m - last.x_m, roads.points[p].y_m - last.y_m);
    }
  }
}

double RoadIndex::length_m(std::int32_t lane) const {
  return along_m_[static_cast<std::size_t>(map().lane_begin[as_index(lane) + 1]) - 1];
}

Pose RoadIndex::pose_at(std::int32_t lane, double along_m) const {
  const auto begin = static_cast<std::size_t>(map().lane_begin[as_index(lane)]);
  const auto end = static_cast<std::size_t>(map().lane_begin[as_index(lane) + 1]);
  std::size_t after = begin + 1;
  while (after + 1 < end && along_m_[after] < along_m) ++after;
  const Point& from = map().points[after - 1];
  if (after == end) return {.x_m = from.x_m, .y_m = from.y_m};  // a lane of one point
  const Point& to = map().points[after];
  const double heading_rad = std::atan2(to.y_m - from.y_m, to.x_m - from.x_m);
  const double past_m = along_m - along_m_[after - 1];
  return {.x_m = from.x_m + past_m * std::cos(heading_rad),
          .y_m = from.y_m + past_m * std::sin(heading_rad),
          .heading_rad = heading_rad};
}

std::vector<JunctionLane> RoadIndex::junction_lanes(std::int32_t edge,
                                                    std::int32_t next_edge) const {
  std::vector<JunctionLane> found;
  for (const std::int32_t lane : lanes_of(edge)) {
    for (const std::int32_t number : links_from(lane)) {
      const Link& link = map().links[as_index(number)];
      if (map().edge[as_index(link.to_lane)] != next_edge) continue;
      double begin_m = 0.0;
      std::int32_t over = link.connector;
      while (over >= 0 && map().kind[as_index(over)] == LaneKind::kConnector) {
        found.push_back({.lane = over, .from_lane = lane, .begin_m = begin_m});
        begin_m += length_m(over);
        over = next_lane(over, next_edge);
      }
    }
  }
  return found;
}

/// The lane that follows a lane inside a junction on the way to an edge. If vehicles wait inside
/// the junction, SUMO divides the way over it into two lanes. The first lane then has a link of its
/// own, which leads over the second lane.
std::int32_t RoadIndex::next_lane(std::int32_t connector, std::int32_t edge) const {
  for (const std::int32_t number : links_from(connector)) {
    const Link& link = map().links[as_index(number)];
    if (map().edge[as_index(link.to_lane)] != edge) continue;
    return link.connector >= 0 ? link.connector : link.to_lane;
  }
  const std::int32_t over = index_.link_over(connector);
  if (over < 0) return -1;
  const std::int32_t to_lane = map().links[as_index(over)].to_lane;
  return map().edge[as_index(to_lane)] == edge ? to_lane : -1;
}

OnLane RoadIndex::project(std::int32_t lane, double x_m, double y_m) const {
  const auto begin = static_cast<std::size_t>(map().lane_begin[as_index(lane)]);
  const auto end = static_cast<std::size_t>(map().lane_begin[as_index(lane) + 1]);
  OnLane best{.lane = lane, .distance_m = INFINITY};
  for (std::size_t p = begin + 1; p < end; ++p) {
    const Point& from = map().points[p - 1];
    const double piece_m = along_m_[p] - along_m_[p - 1];
    if (piece_m <= 0.0) continue;
    const double ux = (map().points[p].x_m - from.x_m) / piece_m;
    const double uy = (map().points[p].y_m - from.y_m) / piece_m;
    const double dx = x_m - from.x_m;
    const double dy = y_m - from.y_m;
    const double along_m = std::clamp(ux * dx + uy * dy, 0.0, piece_m);
    const double distance_m = std::hypot(dx - along_m * ux, dy - along_m * uy);
    if (distance_m >= best.distance_m) continue;
    best.distance_m = distance_m;
    best.along_m = along_m_[p - 1] + along_m;
    best.to_left_m = ux * dy - uy * dx;
    best.heading_rad = std::atan2(uy, ux);
  }
  return best;
}

void RoadIndex::find_near(double x_m, double y_m, double reach_m,
                          std::vector<OnLane>& found) const {
  found.clear();
  std::vector<std::int32_t> strips;
  index_.find_near(x_m, y_m, reach_m, strips);
  std::vector<std::int32_t> lanes;
  for (const std::int32_t strip : strips) lanes.push_back(index_.strips()[as_index(strip)].lane);
  std::ranges::sort(lanes);
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  for (const std::int32_t lane : lanes) {
    const OnLane seen = project(lane, x_m, y_m);
    if (seen.distance_m <= reach_m) found.push_back(seen);
  }
}

bool RoadIndex::is_on_road(const Pose& pose) const {
  constexpr double kWidest_m = 10.0;
  std::vector<OnLane> near;
  find_near(pose.x_m, pose.y_m, kWidest_m, near);
  return std::ranges::any_of(near, [&](const OnLane& seen) {
    const double turned_rad = std::fabs(wrapped_rad(pose.heading_rad - seen.heading_rad));
    return seen.distance_m <= 0.5 * map().width_m[as_index(seen.lane)] &&
           turned_rad < 0.5 * std::numbers::pi;
  });
}

}  // namespace traffic::driving
