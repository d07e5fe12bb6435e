/// FrameBuilder builds a frame, the graph of the vehicles that a model observes, from the state of
/// the road.
#pragma once

#include <array>
#include <vector>

#include "traffic/scene/frame.h"
#include "traffic/scene/road_state.h"

namespace traffic::scene {

/// Maximum number of edges that lead to the node of a vehicle. They come from its nearest
/// neighbours within kNeighbourReachM.
inline constexpr int kMaxNeighbours = 8;

/// Builds frames into buffers that it reuses. Each simulation has its own builder.
class FrameBuilder {
 public:
  /// @return the frame, which is valid until the next call
  const GraphFrame& build(const RoadState& state);

 private:
  struct Near {
    double square_m2;  ///< squared distance in the plane
    std::int32_t vehicle;
    double ahead_m;  ///< how far the neighbour is ahead, along the road
    bool same_path;  ///< whether one can follow the other without a lane change
  };

  void build_nodes(const RoadState& state);
  void build_edges(const RoadState& state);
  void gather(const RoadState& state, std::size_t vehicle);
  void append_edges(const RoadState& state, std::size_t vehicle);

  GraphFrame frame_;
  std::vector<Near> near_;
};

}  // namespace traffic::scene
