/// Expresses positions on a road map relative to lanes, and finds the ways over junctions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "traffic/driving/map_index.h"
#include "traffic/driving/recorded_scene.h"

namespace traffic::driving {

/// A position relative to the centre line of a lane.
struct OnLane {
  std::int32_t lane = -1;
  double along_m = 0.0;     ///< distance from the line's begin to its point nearest to the position
  double to_left_m = 0.0;   ///< distance from the line, positive to its left
  double distance_m = 0.0;  ///< distance to that point; beyond the ends larger than |to_left_m|
  double heading_rad = 0.0;  ///< direction of the line at the nearest point
};

/// A lane inside a junction that is part of a way over the junction.
struct JunctionLane {
  std::int32_t lane = -1;
  std::int32_t from_lane = -1;  ///< the lane before the junction
  double begin_m = 0.0;         ///< length of the way from the begin of the junction to this lane
};

/// Immutable after construction and thread-safe.
class RoadIndex {
 public:
  explicit RoadIndex(std::shared_ptr<const RoadMap> map);

  [[nodiscard]] const RoadMap& map() const { return index_.map(); }
  [[nodiscard]] double length_m(std::int32_t lane) const;
  /// The point of a lane's centre line at a distance from its begin, and the direction there.
  /// Beyond its ends the line goes straight on.
  [[nodiscard]] Pose pose_at(std::int32_t lane, double along_m) const;
  /// Indices into RoadMap::links of the links that leave a lane.
  [[nodiscard]] std::span<const std::int32_t> links_from(std::int32_t lane) const {
    return index_.links_from(lane);
  }
  /// The lanes of an edge.
  [[nodiscard]] std::span<const std::int32_t> lanes_of(std::int32_t edge) const {
    return index_.lanes_of_edge(edge);
  }

  /// The lanes inside junctions that lead from one edge to the next one of a route.
  [[nodiscard]] std::vector<JunctionLane> junction_lanes(std::int32_t edge,
                                                         std::int32_t next_edge) const;
  /// The lane after a connector (a lane inside a junction) on the way to an edge; -1 if the
  /// connector does not lead there.
  [[nodiscard]] std::int32_t next_lane(std::int32_t connector, std::int32_t edge) const;

  /// The position relative to a lane.
  [[nodiscard]] OnLane project(std::int32_t lane, double x_m, double y_m) const;
  /// Overwrites `found` with the lanes whose lines pass within `reach_m` of a place.
  void find_near(double x_m, double y_m, double reach_m, std::vector<OnLane>& found) const;
  /// Whether the position is on a lane that leads in the direction of the pose, within 90 degrees.
  [[nodiscard]] bool is_on_road(const Pose& pose) const;

 private:
  MapIndex index_;
  std::vector<double> along_m_;  ///< [points of the map] distance from the begin of the lane
};

}  // namespace traffic::driving
