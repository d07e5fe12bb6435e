/// Properties of a route: distances along it, and the conflict ahead of each of its edges.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "traffic/scene/road.h"

namespace traffic::scene {

struct RoutePlan {
  /// The conflict ahead of one edge of the route.
  struct Ahead {
    int conflict = -1;     ///< -1: none until the end of the route
    double to_line_m = 0;  ///< from the end of this edge to the stop line
  };
  std::vector<int> edges;
  std::vector<double> start_m;  ///< [edges] distance from the start of the route, with junctions
  double length_m = 0;          ///< sum of the lengths of the edges; completion is relative to it
  double end_m = 0;             ///< length of the route, with junctions
  std::vector<Ahead> ahead;     ///< [edges]
  std::vector<int> first_slot;  ///< [edges] into the vectors below, which have a slot per lane
  std::vector<int> stop_lane;   ///< [slots] lane of the next stop line along the links; -1: none
  std::vector<double>
      continuation_m;  ///< [slots] from the lane's start to where it stops serving the route
  /// [slots] lanes to the left (negative: to the right) by which a vehicle has to change to stay on
  /// its route, here or where its lane stops serving the route.
  std::vector<int> lane_changes;

  /// First index in `edges`, from `from` on, of an edge; -1 if the route does not pass it.
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
