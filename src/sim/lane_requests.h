/// Passes the lane changes that controllers command to SUMO, and ends them in time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator.h"
#include "traffic/scene/action.h"
#include "traffic/scene/road_state.h"

namespace traffic::sim {

/// The requests for lane changes that are in force. SUMO keeps a vehicle on the requested lane, and
/// on the lanes to which it leads, even if the vehicle's route needs another one. A request
/// therefore ends as soon as the vehicle has passed the conflict before which it was made.
class LaneRequests {
 public:
  void clear() { open_.clear(); }
  /// Requests a lane change; does nothing if there is no such lane.
  /// @param name SUMO's name of the vehicle
  void ask(Simulator& simulator, const scene::Vehicle& vehicle, scene::LaneChange change,
           const std::string& name, const scene::RoadState& state);
  /// Ends the requests whose time is over or whose conflict the vehicle has passed.
  /// @param names [vehicle ids] SUMO's names
  void expire(Simulator& simulator, scene::RoadState& state, const std::vector<std::string>& names);
  /// Ends all requests.
  void hand_back(Simulator& simulator, scene::RoadState& state,
                 const std::vector<std::string>& names);

 private:
  struct Open {
    std::uint32_t vehicle_id = 0;
    int conflict = -1;   ///< conflict ahead of the vehicle at the time of the request; -1: none
    double until_s = 0;  ///< simulated time at which the request ends
  };
  static void end(Simulator& simulator, const std::string& name);
  std::vector<Open> open_;
};

}  // namespace traffic::sim
