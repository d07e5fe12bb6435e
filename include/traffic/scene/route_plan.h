/// What is known of a vehicle's way before it drives: distances along its route and the conflict
/// ahead of every edge.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "traffic/scene/road.h"

namespace traffic::scene {

struct RoutePlan {
  /// What lies ahead of one edge of the route.
  struct Ahead {
    int conflict = -1;     ///< -1: none until the end of the route
    double to_line_m = 0;  ///< from the end of this edge to the stop line
  };
  std::vector<int> edges;
  std::vector<double>
      start_m;          ///< [edges] from the start of the route, lanes inside junctions included
  double length_m = 0;  ///< sum of the lengths of the edges: what completion is measured by
  double end_m = 0;     ///< of the route, lanes inside junctions included
  std::vector<Ahead> ahead;     ///< [edges]
  std::vector<int> first_slot;  ///< [edges] into the three below, which have one slot a lane
  std::vector<int> stop_lane;  ///< lane of the next stop line when every link is followed; -1: none
  std::vector<double>
      continuation_m;  ///< from the start of the lane to where it stops serving the route
  /// Of those slots: lanes to the left (negative: to the right) that a vehicle has to change in
  /// order to go on, there or where its lane stops serving the route; 0: none.
  std::vector<int> lane_changes;

  /// Index in `edges` of an edge at or after `from`; -1 when the route does not pass it.
  [[nodiscard]] int find(int edge, int from) const;
};

/// Plans of all routes seen so far; a plan lives as long as the cache.
class RoutePlans {
 public:
  explicit RoutePlans(const Road& road) : road_(road) {}
  /// @param edges indices of a connected route's edges, not empty
  const RoutePlan& of(std::span<const int> edges);

 private:
  const Road& road_;
  std::unordered_map<std::string, std::unique_ptr<RoutePlan>>
      plans_;  ///< by the bytes of the edge list
};

/// Distance that stands for "no limit ahead" in continuation_m.
inline constexpr double kFarAheadM = 10000.0;

}  // namespace traffic::scene
