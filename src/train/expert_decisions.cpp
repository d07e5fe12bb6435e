#include "expert_decisions.h"

#include <algorithm>
#include <optional>

namespace traffic::train {
namespace {

std::optional<std::size_t> index_of(std::span<const scene::Longitudinal> commands,
                                    scene::Longitudinal wanted) {
  const auto found = std::find(commands.begin(), commands.end(), wanted);
  if (found == commands.end()) return std::nullopt;
  return static_cast<std::size_t>(found - commands.begin());
}

}  // namespace

ExpertDecisions expert_decisions(std::span<const std::uint32_t> vehicle_id,
                                 std::span<const scene::Command> asked,
                                 std::span<const scene::Longitudinal> commands,
                                 std::int64_t may_pick) {
  ExpertDecisions made;
  std::vector<std::int64_t> others;
  const auto room = [&] { return static_cast<std::int64_t>(made.place.size()) < may_pick; };
  for (std::size_t i = 0; i < vehicle_id.size(); ++i) {
    const auto found = std::find_if(asked.begin(), asked.end(), [&](const scene::Command& c) {
      return c.vehicle_id == vehicle_id[i];
    });
    std::optional<std::size_t> action;
    if (found != asked.end()) action = index_of(commands, found->longitudinal);
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
  return made;
}

}  // namespace traffic::train
