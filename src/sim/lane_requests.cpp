// Requests lane changes from SUMO, and ends the requests in time.
#include "lane_requests.h"

#include <algorithm>

namespace traffic::sim {

void LaneRequests::ask(Simulator& simulator, const scene::Vehicle& vehicle,
                       scene::LaneChange change, const std::string& name,
                       const scene::RoadState& state) {
  const scene::Road& road = state.road();
  const int to = road.lane_beside(vehicle.lane, static_cast<int>(change));
  if (to < 0 || road.edge_of(to).internal) return;
  simulator.change_lane(name, road.lanes[static_cast<std::size_t>(to)].index, scene::kLaneKeptS);
  const Open open{.vehicle_id = vehicle.id,
                  .conflict = vehicle.conflict,
                  .until_s = state.time_s() + scene::kLaneKeptS};
  const auto known = std::find_if(open_.begin(), open_.end(),
                                  [&](const Open& one) { return one.vehicle_id == vehicle.id; });
  if (known != open_.end())
    *known = open;
  else
    open_.push_back(open);
}

void LaneRequests::end(Simulator& simulator, const std::string& name) {
  simulator.change_lane(name, simulator.lane_index(name), 0.0);
}

void LaneRequests::expire(Simulator& simulator, scene::RoadState& state,
                          const std::vector<std::string>& names) {
  std::erase_if(open_, [&](const Open& open) {
    const scene::Vehicle* vehicle = state.find(open.vehicle_id);
    if (vehicle == nullptr || open.until_s <= state.time_s()) return true;
    if (vehicle->lane < 0 || vehicle->conflict == open.conflict) return false;
    end(simulator, names[open.vehicle_id]);
    return true;
  });
}

void LaneRequests::hand_back(Simulator& simulator, scene::RoadState& state,
                             const std::vector<std::string>& names) {
  for (const Open& open : open_) {
    const scene::Vehicle* vehicle = state.find(open.vehicle_id);
    if (vehicle != nullptr && vehicle->lane >= 0) end(simulator, names[open.vehicle_id]);
  }
  open_.clear();
}

}  // namespace traffic::sim
