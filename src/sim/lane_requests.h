/// Lanes that vehicles were asked to change to, in SUMO.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traffic/scene/action.h"
#include "traffic/scene/road_state.h"

namespace traffic::sim {

/// SUMO keeps a vehicle on a lane that was asked for, and on what that leads to, before all that
/// its route asks for; so a request is taken back as soon as the vehicle has passed the conflict
/// before which it was made.
class LaneRequests {
 public:
  void clear() { open_.clear(); }
  /// Nothing where there is no such lane. @param name the vehicle's in SUMO
  void ask(const scene::Vehicle& vehicle, scene::LaneChange change, const std::string& name,
           const scene::RoadState& state);
  /// Takes back what is over. @param names [vehicle ids]
  void expire(scene::RoadState& state, const std::vector<std::string>& names);

 private:
  struct Open {
    std::uint32_t vehicle_id = 0;
    int conflict = -1;  ///< ahead when it was asked; -1: none
    double until_s = 0;
  };
  std::vector<Open> open_;
};

}  // namespace traffic::sim
