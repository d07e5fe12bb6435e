/// One episode of recorded traffic, from which a driving policy learns: vehicles, routes and
/// lights.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "traffic/driving/road_map.h"

namespace traffic::driving {

/// Time between two frames, and between two points of a plan.
inline constexpr double kFrame_s = 0.5;

/// Positions are those of the vehicle's centre. Headings are radians from east, counterclockwise.
struct Pose {
  double x_m = 0.0;
  double y_m = 0.0;
  double heading_rad = 0.0;
};

/// The state of a vehicle in one frame.
struct SceneNode {
  std::int32_t vehicle = 0;  ///< index into RecordedScene::vehicles
  float x_m = 0.0F;
  float y_m = 0.0F;
  float heading_rad = 0.0F;
  float speed_mps = 0.0F;
  std::int32_t lane = -1;   ///< index of the lane in the map; -1: on no lane
  std::int32_t route = -1;  ///< index into the routes; -1: not known
};

/// A vehicle of a scene, the same in all frames.
struct SceneVehicle {
  std::string type;  ///< name of its vehicle type in SUMO or in the recording
  float length_m = 0.0F;
  float width_m = 0.0F;
};

struct RecordedScene {
  std::shared_ptr<const RoadMap> map;
  std::uint64_t seed = 0;
  std::vector<std::int64_t> route_begin;  ///< [routes + 1]
  std::vector<std::int32_t> route_edges;  ///< indices of edges of the map, route by route
  std::vector<SceneVehicle> vehicles;
  std::vector<double> time_s;            ///< [frames], kFrame_s apart
  std::vector<std::int64_t> node_begin;  ///< [frames + 1]
  std::vector<SceneNode> nodes;          ///< [nodes] frame by frame, by vehicle within a frame
  std::vector<std::uint8_t>
      signals;  ///< [frames * signals of the map] letters of SUMO: r, y, g, G ...

  [[nodiscard]] std::size_t num_frames() const { return time_s.size(); }
  [[nodiscard]] std::span<const SceneNode> frame(std::size_t frame) const {
    return std::span(nodes).subspan(
        static_cast<std::size_t>(node_begin[frame]),
        static_cast<std::size_t>(node_begin[frame + 1] - node_begin[frame]));
  }
  [[nodiscard]] std::span<const std::int32_t> route(std::size_t route) const {
    return std::span(route_edges)
        .subspan(static_cast<std::size_t>(route_begin[route]),
                 static_cast<std::size_t>(route_begin[route + 1] - route_begin[route]));
  }
};

}  // namespace traffic::driving
