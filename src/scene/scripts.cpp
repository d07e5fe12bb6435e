// The base class of the scripted controllers of vehicles, and helpers of the scripts.
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
      brake_mps2_(spec.get_or("brake_mps2", 0.0)),
      period_s_(spec.get("period_s") > 0 ? spec.get("period_s") : options.period_s) {}

void Script::command(const RoadState& state,
                     const std::function<std::optional<Ask>(const Vehicle&)>& ask,
                     std::vector<Command>& commands) {
  picks_.clear();
  for (std::size_t i = 0; i < state.vehicles().size(); ++i) {
    const Vehicle& v = state.vehicles()[i];
    if (!v.is_cv) continue;
    if (const auto asked = ask(v)) picks_.push_back({v.line_m, static_cast<int>(i), *asked});
  }
  std::sort(picks_.begin(), picks_.end(), [](const Pick& a, const Pick& b) {
    return a.line_m != b.line_m ? a.line_m < b.line_m : a.vehicle < b.vehicle;
  });
  if (static_cast<int>(picks_.size()) > top_) picks_.resize(static_cast<std::size_t>(top_));
  for (const Pick& pick : picks_) {
    Command command;
    command.vehicle_id = at(state.vehicles(), pick.vehicle).id;
    command.longitudinal = pick.ask.longitudinal;
    command.value = pick.ask.value;
    command.lane_change = pick.ask.lane_change;
    command.hold_s = period_s_;
    command.max_slowdown_mps2 = brake_mps2_;
    commands.push_back(command);
  }
}

std::unique_ptr<Controller> make_script(const config::ControllerSpec& spec,
                                        const ControllerOptions& options) {
  for (const auto make :
       {make_density_script, make_yielding_script, make_driving_script, make_lane_script}) {
    if (auto script = make(spec, options)) return script;
  }
  return nullptr;
}

}  // namespace traffic::scene
