#include "scripts.h"

#include <algorithm>
#include <cmath>

#include "index.h"

namespace traffic::scene {

const Approach& approach_of(const RoadState& state, const Vehicle& v) {
  return at(at(state.road().conflicts, v.conflict).approaches, v.approach);
}

bool is_committed(const Vehicle& vehicle, const RoadState& state) {
  // Step times are sums of step lengths and carry rounding errors.
  return vehicle.commanded && vehicle.committed_until_s > state.time_s() + 1e-6;
}

Script::Script(const config::ControllerSpec& spec, const ControllerOptions& options)
    : name_(spec.name),
      top_(spec.get("top") > 0 ? static_cast<int>(std::lround(spec.get("top"))) : options.top_k),
      period_s_(spec.get("period_s") > 0 ? spec.get("period_s") : options.period_s) {}

void Script::give(std::vector<Pick>& picks, const RoadState& state,
                  std::vector<Command>& commands) const {
  std::sort(picks.begin(), picks.end(), [](const Pick& a, const Pick& b) {
    return a.line_m != b.line_m ? a.line_m < b.line_m : a.vehicle < b.vehicle;
  });
  if (static_cast<int>(picks.size()) > top_) picks.resize(static_cast<std::size_t>(top_));
  for (const Pick& pick : picks) {
    Command command;
    command.vehicle_id = at(state.vehicles(), pick.vehicle).id;
    command.longitudinal = pick.longitudinal;
    command.value = pick.value;
    command.hold_s = period_s_;
    commands.push_back(command);
  }
}

std::unique_ptr<Controller> make_script(const config::ControllerSpec& spec,
                                        const ControllerOptions& options) {
  for (const auto make : {make_density_script, make_yielding_script, make_driving_script}) {
    if (auto script = make(spec, options)) return script;
  }
  return nullptr;
}

}  // namespace traffic::scene
