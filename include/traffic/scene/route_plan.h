/// RoutePlan: precomputed properties of a vehicle's route, such as distances along it and the
/// conflict ahead of each of its edges. Vehicles with the same route share a plan.
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
    double to_line_m = 0;  ///< distance from the end of this edge to the stop line
  };
  std::vector<int> edges;
  std::vector<double>
      start_m;               ///< [edges] distance from the start of the route, including junctions
  double length_m = 0;       ///< sum of the lengths of the edges; 100 % of a vehicle's progress
  double end_m = 0;          ///< length of the route, including junctions
  std::vector<Ahead> ahead;  ///< [edges]
  std::vector<int> first_slot;  ///< [edges] index of the edge's first lane in the vectors below,
                                ///< which have a slot for each lane of each edge
  std::vector<int> stop_lane;   ///< [slots] lane that ends at the next stop line; -1: none
  /// [slots] distance from the lane's start for which a vehicle can follow the route without a lane
  /// change; at most kFarAheadM.
  std::vector<double> continuation_m;
  /// [slots] number of lanes that a vehicle has to change to the left (negative: to the right) to
  /// stay on its route. The change is due on this edge or, if the lane leads on along the route, at
  /// the end of continuation_m.
  std::vector<int> lane_changes;

  /// Position of an edge in `edges`, searched from position `from` on; -1 if it is not there.
  [[nodiscard]] int find(int edge, int from) const;
};

/// Makes a plan for each route and stores it. A plan lives as long as this object.
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

/// Value of continuation_m if the lane can be followed to the end of the route.
inline constexpr double kFarAheadM = 10000.0;

}  // namespace traffic::scene
