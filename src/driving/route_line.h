/// The centre line that a vehicle would follow along its route.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/driving/map_index.h"
#include "traffic/driving/recorded_scene.h"

namespace traffic::driving {

struct RouteLine {
  /// Positions on the map, from beside the vehicle on. At least two.
  std::vector<Point> points;
  float speed_limit_mps = 0.0F;  ///< of the lane that it is on
  /// The first light on the way: distance to its stop line, and its index in RoadMap::signals; -1:
  /// there is none on this line.
  float stop_m = 0.0F;
  std::int32_t signal = -1;
};

/// Follows the lanes of the route from the one that the vehicle is on. Where no lane of the route
/// is near, the line begins on the nearest lane, and where there is none, it leads straight ahead.
/// @param route edges of the map, from the vehicle's present edge on
/// @param length_m of the line, which ends earlier where the route ends
RouteLine follow_route(const MapIndex& map, std::span<const std::int32_t> route, const Pose& pose,
                       float length_m);

}  // namespace traffic::driving
