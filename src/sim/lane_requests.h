/// Lane changes that controllers have asked of vehicles in SUMO.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traffic/scene/action.h"
#include "traffic/scene/road_state.h"

namespace traffic::sim {

/// Requests of lane changes to SUMO. SUMO keeps a vehicle on the requested lane, and on the lanes
/// to which it leads, even if the vehicle's route needs another one. A request therefore ends as
/// soon as the vehicle has passed the conflict before which it was made.
class LaneRequests {
 public:
  void clear() { open_.clear(); }
  /// Asks for a lane change; does nothing where there is no such lane.
  /// @param name of the vehicle in SUMO
  void ask(const scene::Vehicle& vehicle, scene::LaneChange change, const std::string& name,
           const scene::RoadState& state);
  /// Ends the requests that are over. @param names [vehicle ids]
  void expire(scene::RoadState& state, const std::vector<std::string>& names);

 private:
  struct Open {
    std::uint32_t vehicle_id = 0;
    int conflict = -1;  ///< conflict ahead of the vehicle at the time of the request; -1: none
    double until_s = 0;
  };
  std::vector<Open> open_;
};

}  // namespace traffic::sim
