// Finds the centre line that a vehicle would follow along its route (route_line.h).
#include "route_line.h"

#include <algorithm>
#include <cmath>

#include "traffic/driving/geometry.h"

namespace traffic::driving {
namespace {

/// A position on a lane.
struct Place {
  std::int32_t lane = -1;
  std::size_t segment = 0;  ///< index of the segment; segment i leads from point i to point i + 1
  float share = 0.0F;       ///< share of this segment that lies behind the position
};

float length_of(const Point& a, const Point& b) { return std::hypot(b.x_m - a.x_m, b.y_m - a.y_m); }

Point between(const Point& a, const Point& b, float share) {
  return {std::lerp(a.x_m, b.x_m, share), std::lerp(a.y_m, b.y_m, share)};
}

class Follower {
 public:
  Follower(const MapIndex& index, std::span<const std::int32_t> route, const Pose& pose)
      : index_(index), map_(index.map()), route_(route), pose_(pose) {}

  [[nodiscard]] Place find_place() const;
  RouteLine walk(Place place, float length_m);

 private:
  [[nodiscard]] std::int32_t edge_of(std::int32_t lane) const {
    return map_.edge[static_cast<std::size_t>(lane)];
  }
  /// Index in the route of the edge that a lane belongs to. For a lane inside a junction, it is the
  /// edge that this lane leads to. The size of the route if the lane is not on the route.
  [[nodiscard]] std::size_t place_in_route(std::int32_t lane) const;
  [[nodiscard]] const Link* next_link(std::int32_t lane, std::size_t next_edge) const;

  const MapIndex& index_;
  const RoadMap& map_;
  std::span<const std::int32_t> route_;
  const Pose& pose_;
};

std::size_t Follower::place_in_route(std::int32_t lane) const {
  const std::int32_t over = index_.link_over(lane);
  if (over >= 0) {
    const Link& link = map_.links[static_cast<std::size_t>(over)];
    for (std::size_t i = 0; i + 1 < route_.size(); ++i) {
      if (edge_of(link.from_lane) == route_[i] && edge_of(link.to_lane) == route_[i + 1]) {
        return i + 1;
      }
    }
    return route_.size();
  }
  return static_cast<std::size_t>(std::find(route_.begin(), route_.end(), edge_of(lane)) -
                                  route_.begin());
}

/// The place on a lane that best matches the vehicle: near it, on its route and in its direction.
Place Follower::find_place() const {
  constexpr double kNear_m = 8.0;
  constexpr double kOffRoute = 20.0;
  std::vector<std::int32_t> strips;
  index_.find_near(pose_.x_m, pose_.y_m, kNear_m, strips);
  Place best;
  double least = INFINITY;
  for (const std::int32_t s : strips) {
    const LaneStrip& strip = index_.strips()[static_cast<std::size_t>(s)];
    const auto lane = static_cast<std::size_t>(strip.lane);
    // Only the first three edges count as on the route, because the route may come back to this
    // place later.
    const bool on_route = place_in_route(strip.lane) < std::min<std::size_t>(3, route_.size());
    const auto first = static_cast<std::size_t>(strip.first_point);
    for (std::size_t i = first; i + 1 < first + static_cast<std::size_t>(strip.num_points); ++i) {
      const Point& a = map_.points[i];
      const Point& b = map_.points[i + 1];
      const double dx = b.x_m - a.x_m, dy = b.y_m - a.y_m;
      const double squared = dx * dx + dy * dy;
      if (squared == 0.0) continue;
      const double at =
          std::clamp(((pose_.x_m - a.x_m) * dx + (pose_.y_m - a.y_m) * dy) / squared, 0.0, 1.0);
      const double away = std::hypot(pose_.x_m - a.x_m - at * dx, pose_.y_m - a.y_m - at * dy);
      const double turned = std::abs(wrapped_rad(std::atan2(dy, dx) - pose_.heading_rad));
      const double badness = away + 4.0 * turned + (on_route ? 0.0 : kOffRoute);
      if (badness >= least || away > kNear_m) continue;
      least = badness;
      best = {.lane = strip.lane,
              .segment = i - static_cast<std::size_t>(map_.lane_begin[lane]),
              .share = static_cast<float>(at)};
    }
  }
  return best;
}

/// The link that leads to an edge of the route, from the given lane or, if there is none, from a
/// lane beside it. Of several links, prefers one to a lane from which the route goes on. Null if no
/// link leads to the edge.
const Link* Follower::next_link(std::int32_t lane, std::size_t next_edge) const {
  const Link* best = nullptr;
  int best_rank = -1;
  const auto look_at = [&](std::int32_t from, int rank) {
    for (const std::int32_t l : index_.links_from(from)) {
      const Link& link = map_.links[static_cast<std::size_t>(l)];
      if (edge_of(link.to_lane) != route_[next_edge]) continue;
      bool goes_on = next_edge + 1 >= route_.size();
      for (const std::int32_t further : index_.links_from(link.to_lane)) {
        goes_on = goes_on || edge_of(map_.links[static_cast<std::size_t>(further)].to_lane) ==
                                 route_[next_edge + 1];
      }
      const int rank_here = rank + (goes_on ? 1 : 0);
      if (rank_here > best_rank) {
        best = &link;
        best_rank = rank_here;
      }
    }
  };
  look_at(lane, 2);
  for (const std::int32_t beside : index_.lanes_of_edge(edge_of(lane))) look_at(beside, 0);
  return best;
}

RouteLine Follower::walk(Place place, float length_m) {
  RouteLine line;
  line.speed_limit_mps = map_.speed_limit_mps[static_cast<std::size_t>(place.lane)];
  std::size_t at_edge = place_in_route(place.lane);
  std::int32_t lane = place.lane;
  float walked_m = 0.0F;
  // On the first lane the line begins at the point nearest to the vehicle, and on every further
  // lane at its first point.
  bool beside = true;
  constexpr int kMaxLanes = 64;
  for (int lanes = 0; lanes < kMaxLanes && walked_m < length_m; ++lanes) {
    const std::span<const Point> points = map_.line(static_cast<std::size_t>(lane));
    std::size_t next = 0;
    if (beside) {
      next = place.segment + 1;
      line.points.push_back(between(points[next - 1], points[next], place.share));
      beside = false;
    }
    for (; next < points.size() && walked_m < length_m; ++next) {
      walked_m += line.points.empty() ? 0.0F : length_of(line.points.back(), points[next]);
      line.points.push_back(points[next]);
    }
    const std::int32_t over = index_.link_over(lane);
    if (over >= 0) {
      lane = map_.links[static_cast<std::size_t>(over)].to_lane;
      continue;
    }
    if (at_edge + 1 >= route_.size()) break;
    const Link* link = next_link(lane, at_edge + 1);
    if (link == nullptr) break;
    if (line.signal < 0 && link->signal >= 0 && walked_m < length_m) {
      line.signal = link->signal;
      line.stop_m = walked_m;
    }
    ++at_edge;
    lane = link->connector >= 0 ? link->connector : link->to_lane;
  }
  return line;
}

}  // namespace

RouteLine follow_route(const MapIndex& map, std::span<const std::int32_t> route, const Pose& pose,
                       float length_m) {
  Follower follower(map, route, pose);
  const Place place = follower.find_place();
  RouteLine line;
  if (place.lane >= 0) line = follower.walk(place, length_m);
  if (line.points.size() >= 2) return line;
  const Point here = line.points.empty() ? from_frame(pose, {0.0F, 0.0F}) : line.points.front();
  line.points = {here,
                 {here.x_m + length_m * static_cast<float>(std::cos(pose.heading_rad)),
                  here.y_m + length_m * static_cast<float>(std::sin(pose.heading_rad))}};
  return line;
}

}  // namespace traffic::driving
