/// Finds the place of a vehicle on its route, and its progress, from the vehicle's positions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/driving/road_index.h"

namespace traffic::driving {

/// Follows one vehicle along its route.
class RouteTracker {
 public:
  /// @param roads must outlive this object
  /// @param route edges of the map; the vehicle is on the first one, or in the junction before it
  RouteTracker(const RoadIndex& roads, std::span<const std::int32_t> route);

  /// Takes the vehicle's new position. The tracker only moves forward.
  void update(double x_m, double y_m);

  /// The edges of the route from the present edge on. Inside a junction the present edge is the
  /// edge from which the vehicle has entered the junction.
  [[nodiscard]] std::span<const std::int32_t> ahead() const;
  /// The lane of the route, or of a junction on it, that is nearest to the vehicle.
  [[nodiscard]] const OnLane& place() const { return place_; }
  /// Distance covered along the route since the first update.
  [[nodiscard]] double progress_m() const { return progress_m_ - begin_m_; }

 private:
  void consider(std::int32_t lane, double begin_m, double x_m, double y_m, OnLane& best,
                double& progress_m) const;
  [[nodiscard]] double edge_length_m(std::size_t index) const;
  [[nodiscard]] double junction_length_m(std::size_t index) const;

  const RoadIndex& roads_;
  std::vector<std::int32_t> route_;
  std::vector<double> edge_begin_m_;  ///< [route] distance from the begin of the route
  std::size_t index_ = 0;             ///< index of the present edge in route_
  OnLane place_;
  bool has_begun_ = false;
  double begin_m_ = 0.0;
  double progress_m_ = 0.0;
};

}  // namespace traffic::driving
