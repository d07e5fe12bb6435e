#include "rollouts/expert_decisions.h"

#include <algorithm>
#include <optional>

#include "policy/commands.h"

namespace traffic::train {
namespace {

/// Finds the policy's action that corresponds to the first command of a vehicle in `asked`.
/// @return nothing if the script held that command for less than least_s seconds, or if the policy
///   has no such command
std::optional<std::size_t> action_for(std::uint32_t vehicle, std::span<const scene::Command> asked,
                                      std::span<const scene::CommandKind> commands,
                                      double least_s) {
  std::optional<scene::CommandKind> first;
  double held_s = 0.0;
  for (const scene::Command& command : asked) {
    if (command.vehicle_id != vehicle) continue;
    const scene::CommandKind asked_for = scene::category_of(command);
    if (!first) first = asked_for;
    const bool lane = command.lane_change != scene::LaneChange::kKeep;
    if (asked_for == *first) held_s += lane ? scene::kLaneKeptS : command.hold_s;
  }
  if (!first || held_s < least_s) return std::nullopt;
  return place_among(commands, *first);
}

}  // namespace

DecisionColumns expert_decisions(std::span<const std::uint32_t> vehicle_id,
                                 std::span<const scene::Command> asked,
                                 std::span<const scene::CommandKind> commands,
                                 std::int64_t may_pick, double least_s) {
  DecisionColumns made;
  std::vector<std::int64_t> others;
  const auto room = [&] { return static_cast<std::int64_t>(made.place.size()) < may_pick; };
  for (std::size_t i = 0; i < vehicle_id.size(); ++i) {
    const auto action = action_for(vehicle_id[i], asked, commands, least_s);
    if (!action) {
      others.push_back(static_cast<std::int64_t>(i));
    } else if (room()) {
      made.place.push_back(static_cast<std::int64_t>(i));
      made.action.push_back(static_cast<float>(*action));
    }
  }
  for (const std::int64_t place : others) {
    if (!room()) break;
    made.place.push_back(place);
    made.action.push_back(0.0F);
  }
  made.lane.assign(made.size(), kKeepLane);
  return made;
}

}  // namespace traffic::train
