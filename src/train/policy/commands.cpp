#include "policy/commands.h"

#include <algorithm>
#include <unordered_map>

namespace traffic::train {

std::vector<scene::CommandKind> commands_of(const config::Vehicles& vehicles) {
  std::vector<scene::CommandKind> commands;
  for (const auto& name : vehicles.commands) commands.push_back(scene::command_kind_of(name));
  return commands;
}

std::optional<std::size_t> place_among(std::span<const scene::CommandKind> commands,
                                       const scene::CommandKind& asked) {
  const auto found = std::find(commands.begin(), commands.end(), asked);
  if (found == commands.end()) return std::nullopt;
  return static_cast<std::size_t>(found - commands.begin());
}

void find_advised(const rollout::Period& period, std::span<const scene::CommandKind> commands,
                  std::vector<std::size_t>& advised) {
  std::unordered_map<std::uint32_t, std::size_t> place_of;
  for (const scene::Command& command : period.of<rollout::VehicleSection>().advice) {
    const auto place = place_among(commands, scene::category_of(command));
    place_of.emplace(command.vehicle_id, place.value_or(0));
  }
  const auto& vehicle_id = period.of<rollout::VehicleSection>().frames.back().vehicle_id;
  for (const scene::Candidate& candidate : period.of<rollout::VehicleSection>().candidates) {
    const auto found = place_of.find(vehicle_id[static_cast<std::size_t>(candidate.node)]);
    advised.push_back(found == place_of.end() ? 0 : found->second);
  }
}

}  // namespace traffic::train
