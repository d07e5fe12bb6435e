/// Computes the line along which the IDM driver (a driver that follows rules) moves a vehicle along
/// its route.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "traffic/driving/driver.h"
#include "traffic/driving/road_index.h"

namespace traffic::driving {

/// A sample of the line.
struct PathPoint {
  Pose pose;
  double speed_limit_mps = 0.0;
};

/// A stop line of a traffic light.
struct StopLine {
  double along_m = 0.0;      ///< distance along the path
  std::int32_t signal = -1;  ///< index into the map's signals
};

/// The line, as samples that are kStep_m apart. The first sample is at the vehicle.
struct RoutePath {
  static constexpr double kStep_m = 1.0;

  std::vector<PathPoint> points;
  std::vector<StopLine> stop_lines;
  bool is_dead_end = false;  ///< the last lane does not lead along the route

  [[nodiscard]] double length_m() const { return kStep_m * static_cast<double>(points.size() - 1); }
  /// The pose at a distance along the line, interpolated. Beyond its end the line goes straight on.
  [[nodiscard]] Pose pose_at(double along_m) const;
};

/// Finds the vehicle's lane on its route, and its position relative to this lane.
/// @return the nearest lane that leads in about the vehicle's direction; nullopt if no lane of the
///   route is near
std::optional<OnLane> place_on_route(const RoadIndex& roads, const View& view);

/// The neighbouring lane to which a vehicle on `lane` must change to follow its route; -1 if it may
/// stay.
std::int32_t lane_to_change_to(const RoadIndex& roads, std::span<const std::int32_t> route,
                               std::int32_t lane);

/// The line from a vehicle along a lane of its route and on over the next junctions. It begins at
/// the vehicle and approaches the centre of the lane: its distance from the centre shrinks to 1/e
/// with every return_m metres.
RoutePath path_along(const RoadIndex& roads, std::span<const std::int32_t> route, std::int32_t lane,
                     const Pose& vehicle, double length_m, double return_m);

}  // namespace traffic::driving
