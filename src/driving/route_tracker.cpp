// Finds the place of a vehicle on its route, and its progress (route_tracker.h).
#include "traffic/driving/route_tracker.h"

#include <algorithm>
#include <cmath>

#include "index.h"
#include "traffic/core/error.h"

namespace traffic::driving {
RouteTracker::RouteTracker(const RoadIndex& roads, std::span<const std::int32_t> route)
    : roads_(roads), route_(route.begin(), route.end()) {
  TRAFFIC_CHECK(!route_.empty(), "a route of map '{}' has no edges", roads.map().name);
  double begin_m = 0.0;
  for (std::size_t i = 0; i < route_.size(); ++i) {
    edge_begin_m_.push_back(begin_m);
    begin_m += edge_length_m(i) + junction_length_m(i);
  }
}

double RouteTracker::edge_length_m(std::size_t index) const {
  double longest_m = 0.0;
  for (const std::int32_t lane : roads_.lanes_of(route_[index])) {
    longest_m = std::max(longest_m, roads_.length_m(lane));
  }
  return longest_m;
}

/// Length of the way over the junction behind an edge of the route; 0 behind the last edge.
double RouteTracker::junction_length_m(std::size_t index) const {
  if (index + 1 >= route_.size()) return 0.0;
  double longest_m = 0.0;
  for (const JunctionLane& over : roads_.junction_lanes(route_[index], route_[index + 1])) {
    longest_m = std::max(longest_m, over.begin_m + roads_.length_m(over.lane));
  }
  return longest_m;
}

void RouteTracker::consider(std::int32_t lane, double begin_m, double x_m, double y_m, OnLane& best,
                            double& progress_m) const {
  const OnLane seen = roads_.project(lane, x_m, y_m);
  if (seen.distance_m >= best.distance_m) return;
  best = seen;
  progress_m = begin_m + seen.along_m;
}

void RouteTracker::update(double x_m, double y_m) {
  // Searches twice, because an edge may be shorter than the distance driven since the last call.
  for (int pass = 0; pass < 2; ++pass) {
    OnLane best{.distance_m = INFINITY};
    double progress_m = 0.0;
    const auto consider_edge = [&](std::size_t index) {
      for (const std::int32_t lane : roads_.lanes_of(route_[index])) {
        consider(lane, edge_begin_m_[index], x_m, y_m, best, progress_m);
      }
    };
    consider_edge(index_);
    bool is_on_next = false;
    if (index_ + 1 < route_.size()) {
      const double junction_begin_m = edge_begin_m_[index_] + edge_length_m(index_);
      for (const JunctionLane& over : roads_.junction_lanes(route_[index_], route_[index_ + 1])) {
        consider(over.lane, junction_begin_m + over.begin_m, x_m, y_m, best, progress_m);
      }
      const double before_m = best.distance_m;
      consider_edge(index_ + 1);
      is_on_next = best.distance_m < before_m;
    }
    place_ = best;
    progress_m_ = has_begun_ ? std::max(progress_m_, progress_m) : progress_m;
    if (!has_begun_) begin_m_ = progress_m;
    has_begun_ = true;
    if (!is_on_next) return;
    ++index_;
  }
}

std::span<const std::int32_t> RouteTracker::ahead() const {
  return std::span(route_).subspan(index_);
}

}  // namespace traffic::driving
