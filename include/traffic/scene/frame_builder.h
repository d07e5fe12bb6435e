/// From the state of the road to the graph that a model sees.
#pragma once

#include <array>
#include <vector>

#include "traffic/scene/frame.h"
#include "traffic/scene/road_state.h"

namespace traffic::scene {

/// A vehicle's in-edges come from this many neighbours at most, the nearest, within
/// kNeighbourReachM.
inline constexpr int kMaxNeighbours = 8;

/// Builds frames into buffers that it reuses. One per simulation.
class FrameBuilder {
 public:
  /// The frame is valid until the next call.
  const GraphFrame& build(const RoadState& state);

 private:
  struct Near {
    double square_m2;  ///< of the distance in the plane
    std::int32_t vehicle;
    double ahead_m;  ///< how far the neighbour is ahead, along the road
    bool same_path;
  };

  void build_nodes(const RoadState& state);
  void build_edges(const RoadState& state);
  void gather(const RoadState& state, std::size_t vehicle);
  void append_edges(const RoadState& state, std::size_t vehicle);

  GraphFrame frame_;
  std::vector<Near> near_;
};

}  // namespace traffic::scene
