/// The interface Driver: it gets a View of the road and the traffic around one vehicle, the ego,
/// and answers with a Plan of its way. Training and driving use the same types.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "traffic/driving/recorded_scene.h"

namespace traffic::driving {

/// Number of frames in a view: the present one and the three before it.
inline constexpr std::size_t kHistory = 4;
/// Number of points in a plan, which covers three seconds.
inline constexpr std::size_t kPlanPoints = 6;

/// A vehicle as a rectangle on the road.
struct Box {
  Pose pose;
  float length_m = 0.0F;
  float width_m = 0.0F;
  float speed_mps = 0.0F;
};

/// The input of a driver: the map, the ego, the other vehicles, the ego's route and the lights.
/// Index 0 of a history is the present, index 1 half a second ago, and so on. Early in an episode
/// the missing entries repeat the oldest one.
struct View {
  const RoadMap* map = nullptr;
  std::array<Box, kHistory> ego;
  std::array<std::span<const Box>, kHistory> others;  ///< all other vehicles near the ego
  std::span<const std::int32_t> route;    ///< edges of the map from the ego's present edge on
  std::span<const std::uint8_t> signals;  ///< [signals of the map] letters of SUMO
};

/// Future positions of the vehicle's centre, 0.5 s apart. The coordinates are relative to its
/// present position and heading: x forward, y to the left.
struct Plan {
  std::array<Point, kPlanPoints> points;
};

/// Makes plans for any number of vehicles at once.
class Driver {
 public:
  Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  virtual ~Driver() = default;
  /// @return a plan for each view
  virtual std::vector<Plan> plan(std::span<const View> views) = 0;
};

}  // namespace traffic::driving
