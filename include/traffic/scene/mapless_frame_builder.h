/// The graph that a model sees of traffic whose road is not known: recorded vehicles with a place
/// in the plane and, mostly, a lane.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "traffic/scene/frame.h"
#include "traffic/scene/road.h"
#include "traffic/scene/vehicle.h"

namespace traffic::scene {

/// A recorded vehicle at one moment. Its place is that of its front bumper.
struct MaplessVehicle {
  std::uint32_t id = 0;
  bool is_cv = false;
  double length_m = 5.0;
  int lane = -1;          ///< any number that tells lanes apart; -1: not known
  int lane_index = 0;     ///< 0 is the rightmost
  double lane_pos_m = 0;  ///< along its lane
  double position_m = 0;  ///< covered since it was first seen
  Point xy_m;
  Point heading;  ///< unit vector
  double speed_mps = 0;
  double accel_mps2 = 0;
  double speed_limit_mps = 0;  ///< 0: not known
  int leader = -1;  ///< index of the one that the source names; used where its lane shows none
  double leader_gap_m = 0;  ///< bumper to bumper, to that one
};

/// Builds frames into buffers that it reuses. Leaders and followers are looked for on the
/// vehicle's lane, neighbours within kNeighbourReachM in the plane. Features that need the road
/// are 0: those are missing_features().
class MaplessFrameBuilder {
 public:
  /// @param time_s since the start of the episode
  /// @param arrived_30s vehicles that left in the last 30 s
  /// @return valid until the next call
  const GraphFrame& build(double time_s, std::span<const MaplessVehicle> vehicles, int arrived_30s);

  /// Names of the node and global features that are always 0. @param speed_limits, lanes whether
  /// the vehicles have them
  [[nodiscard]] static std::vector<std::string_view> missing_features(bool speed_limits,
                                                                      bool lanes);

 private:
  struct Near {
    double square_m2;
    std::int32_t vehicle;
  };
  struct Cell {
    std::int64_t key;
    std::int32_t vehicle;
  };

  void take(std::span<const MaplessVehicle> vehicles);
  void find_leaders(std::span<const MaplessVehicle> vehicles);
  void fill_node(const MaplessVehicle& vehicle, std::size_t i);
  void sort_into_cells(std::span<const MaplessVehicle> vehicles);
  void gather(std::span<const MaplessVehicle> vehicles, std::size_t i);
  void append_edges(std::span<const MaplessVehicle> vehicles, std::size_t i);

  GraphFrame frame_;
  std::vector<Vehicle> vehicles_;  ///< what the features of the scene are computed from
  std::vector<std::int32_t> by_lane_;
  std::vector<Cell> cells_;
  std::vector<Near> near_;
};

}  // namespace traffic::scene
