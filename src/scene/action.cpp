// Computes the speed that each command requests, and keeps the commands that are in force.
#include "traffic/scene/action.h"

#include <algorithm>
#include <array>

#include "index.h"
#include "traffic/core/error.h"

namespace traffic::scene {
namespace {

constexpr std::array<std::string_view, 9> kNames = {"none",         "stop",         "slow",
                                                    "hold",         "fast",         "arrive_late",
                                                    "target_speed", "acceleration", "arrive_green"};
static_assert(kNames.size() == static_cast<std::size_t>(kLastLongitudinal) + 1);

/// Next speed on the way to a target. This function limits the deceleration only, because the
/// simulator limits the acceleration.
double approach_speed(double target, double speed, double max_slowdown, double dt) {
  return std::max({target, speed - max_slowdown * dt, 0.0});
}

}  // namespace

std::string_view name_of(Longitudinal command) { return kNames[static_cast<std::size_t>(command)]; }

CommandKind command_kind_of(std::string_view name) {
  if (name == "left") return {.lane_change = LaneChange::kLeft};
  if (name == "right") return {.lane_change = LaneChange::kRight};
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end())
    throw ConfigError("there is no command '{}'; known are {}, left, right", name,
                      fmt::join(kNames, ", "));
  return {.longitudinal = static_cast<Longitudinal>(found - kNames.begin())};
}

CommandKind category_of(const Command& command) {
  const bool speed = command.longitudinal == Longitudinal::kTargetSpeed;
  return {.longitudinal = speed ? Longitudinal::kSlow : command.longitudinal,
          .lane_change = command.lane_change};
}

std::optional<double> conflicting_green_left_s(const RoadState& state, const Vehicle& vehicle,
                                               double lead_s) {
  if (vehicle.conflict < 0) return std::nullopt;
  const auto& approaches = at(state.road().conflicts, vehicle.conflict).approaches;
  std::optional<double> left;
  for (const int other : at(approaches, vehicle.approach).conflicting) {
    const Approach& approach = at(approaches, other);
    if (approach.light < 0) continue;
    const LightState& light = at(state.lights(), approach.light);
    for (const int link : approach.light_links) {
      if (link >= static_cast<int>(light.state.size())) continue;
      if (may_drive(at(light.state, link)))
        left = std::max(left.value_or(0.0), at(light.change_s, link));
      else if (lead_s > 0 && at(light.change_s, link) <= lead_s)
        left = std::max(left.value_or(0.0), at(light.green_end_s, link));
    }
  }
  if (left && *left >= kSignalHorizonS) return std::nullopt;
  return left;
}

std::optional<double> own_red_left_s(const RoadState& state, const Vehicle& vehicle) {
  if (vehicle.stop_lane < 0) return std::nullopt;
  std::optional<double> left;
  for (const Link& link : at(state.road().lanes, vehicle.stop_lane).links) {
    if (link.light < 0) continue;
    const LightState& light = at(state.lights(), link.light);
    if (link.light_link >= static_cast<int>(light.state.size())) continue;
    if (may_drive(at(light.state, link.light_link))) return std::nullopt;
    const double change_s = at(light.change_s, link.light_link);
    left = std::min(left.value_or(change_s), change_s);
  }
  if (left && *left >= kSignalHorizonS) return std::nullopt;
  return left;
}

std::optional<double> next_speed(const ActiveCommand& active, const Vehicle& vehicle,
                                 const RoadState& state, const ControlLimits& limits,
                                 double allowed_mps) {
  const double dt = state.step_length_s();
  const double speed = vehicle.speed_mps;
  const double own_slowdown = active.command.max_slowdown_mps2;
  const double max_slowdown = own_slowdown > 0 ? own_slowdown : limits.max_slowdown_mps2;
  const auto towards = [&](double target) {
    return approach_speed(target, speed, max_slowdown, dt);
  };
  switch (active.command.longitudinal) {
    case Longitudinal::kNone:
      return std::nullopt;
    case Longitudinal::kStop:
      return towards(0.0);
    case Longitudinal::kSlow:
      return towards(limits.slow_mps);
    case Longitudinal::kHold:
      return towards(active.picked_speed_mps);
    case Longitudinal::kFast:
      return towards(allowed_mps);
    case Longitudinal::kTargetSpeed:
      return towards(active.command.value);
    case Longitudinal::kAcceleration: {
      const double a =
          std::clamp(active.command.value, limits.min_accel_mps2, limits.max_accel_mps2);
      return std::max(0.0, speed + a * dt);
    }
    case Longitudinal::kArriveLate: {
      // Step times are sums of step lengths and carry rounding errors.
      if (state.time_s() > active.arrive_by_s - 1e-6) return std::nullopt;
      const auto left = conflicting_green_left_s(state, vehicle, active.command.value);
      if (!left) return std::nullopt;
      return towards(std::min(vehicle.line_m / std::max(*left, dt), allowed_mps));
    }
    case Longitudinal::kArriveGreen: {
      const auto left = own_red_left_s(state, vehicle);
      if (!left) return std::nullopt;
      const double target = std::max(vehicle.line_m / std::max(*left, dt), kLeastArrivalMps);
      return towards(std::min(target, allowed_mps));
    }
  }
  return std::nullopt;
}

void CommandBook::add(std::span<const Command> commands, RoadState& state) {
  for (const Command& command : commands) {
    Vehicle* vehicle = state.find(command.vehicle_id);
    if (vehicle == nullptr || vehicle->lane < 0) continue;
    if (!vehicle->is_cv)
      throw Error(fmt::format("vehicle {} got a command, but it is not a connected vehicle (CV)",
                              command.vehicle_id));
    const auto known = std::find_if(active_.begin(), active_.end(), [&](const ActiveCommand& a) {
      return a.command.vehicle_id == command.vehicle_id;
    });
    if (command.empty()) {
      if (known != active_.end()) known->until_s = state.time_s();
      continue;
    }
    ActiveCommand active;
    active.command = command;
    active.until_s = state.time_s() + std::max(command.hold_s, state.step_length_s());
    active.conflict = vehicle->conflict;
    active.picked_speed_mps = vehicle->speed_mps;
    if (command.longitudinal == Longitudinal::kArriveLate) {
      const auto left = conflicting_green_left_s(state, *vehicle, command.value);
      if (left) active.arrive_by_s = state.time_s() + *left;
    }
    if (known != active_.end()) {
      *known = active;
    } else {
      active_.push_back(active);
      ++state.score().interventions;
    }
    vehicle->commanded = true;
    vehicle->committed_until_s = active.until_s;
  }
}

const std::vector<std::uint32_t>& CommandBook::expire(RoadState& state) {
  released_.clear();
  std::erase_if(active_, [&](const ActiveCommand& active) {
    Vehicle* vehicle = state.find(active.command.vehicle_id);
    if (vehicle == nullptr) return true;
    // Step times are sums of step lengths and carry rounding errors.
    const bool over = active.until_s <= state.time_s() + 1e-6;
    // kFast does not depend on a conflict, so it goes on after the vehicle has passed one.
    const bool passed = active.conflict >= 0 && vehicle->conflict != active.conflict &&
                        active.command.longitudinal != Longitudinal::kFast;
    if (!over && !passed) return false;
    vehicle->commanded = false;
    released_.push_back(vehicle->id);
    return true;
  });
  return released_;
}

}  // namespace traffic::scene
