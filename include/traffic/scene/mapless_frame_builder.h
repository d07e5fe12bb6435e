/// Frames of traffic on an unknown road: recorded vehicles with a position in the plane and, in
/// most recordings, a lane.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "traffic/scene/frame.h"
#include "traffic/scene/road.h"
#include "traffic/scene/vehicle.h"

namespace traffic::scene {

/// A recorded vehicle at one moment. Positions are those of its front bumper.
struct MaplessVehicle {
  std::uint32_t id = 0;
  bool is_cv = false;
  double length_m = 5.0;
  int lane = -1;          ///< any number that identifies the lane; -1: not known
  int lane_index = 0;     ///< position of the lane on its road; 0 is the rightmost
  double lane_pos_m = 0;  ///< position along its lane
  double position_m = 0;  ///< distance covered since the vehicle was first seen
  Point xy_m;             ///< position in the plane
  Point heading;          ///< unit vector
  double speed_mps = 0;
  double accel_mps2 = 0;
  double speed_limit_mps = 0;  ///< 0: not known
  int leader = -1;  ///< index of the leader that the recording names; used if none is found on the
                    ///< lane
  double leader_gap_m = 0;  ///< gap to `leader`, bumper to bumper
};

/// Builds frames into buffers that it reuses. It finds leaders and followers on the vehicle's lane,
/// and neighbours within kNeighbourReachM in the plane. Features that need the road are 0;
/// missing_features() lists them.
class MaplessFrameBuilder {
 public:
  /// @param time_s since the start of the episode
  /// @param arrived_30s number of vehicles that left in the last 30 s
  /// @return the frame, which is valid until the next call
  const GraphFrame& build(double time_s, std::span<const MaplessVehicle> vehicles, int arrived_30s);

  /// Names of the node features and global features that are always 0.
  /// @param speed_limits whether the vehicles' speed limits are known
  /// @param lanes whether the vehicles' lanes are known
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
  std::vector<Vehicle> vehicles_;  ///< the recorded vehicles in the form from which
                                   ///< features are computed
  std::vector<std::int32_t> by_lane_;
  std::vector<Cell> cells_;
  std::vector<Near> near_;
};

}  // namespace traffic::scene
