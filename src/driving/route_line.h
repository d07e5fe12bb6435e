/// The centre line that a vehicle would follow along its route, up to a given length. The
/// observation of the driving policy is computed from it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/driving/map_index.h"
#include "traffic/driving/recorded_scene.h"

namespace traffic::driving {

struct RouteLine {
  /// At least two positions on the map. The first one is beside the vehicle.
  std::vector<Point> points;
  float speed_limit_mps = 0.0F;  ///< speed limit of the lane that the vehicle is on
  float stop_m = 0.0F;           ///< distance to the stop line of the first light on the line
  std::int32_t signal = -1;      ///< index of this light in RoadMap::signals; -1: no light
};

/// Follows the lanes of the route from the lane that the vehicle is on. If no lane of the route is
/// near, the line begins on another lane nearby. If no lane at all is near, the line leads straight
/// ahead.
/// @param route edges of the map, from the vehicle's present edge on
/// @param length_m length of the line; it is shorter if the route ends earlier
RouteLine follow_route(const MapIndex& map, std::span<const std::int32_t> route, const Pose& pose,
                       float length_m);

}  // namespace traffic::driving
