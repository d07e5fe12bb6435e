/// Expresses what a scripted controller did as decisions of the policy that imitates it.
#pragma once

#include <cstdint>
#include <span>

#include "policy/decisions.h"
#include "traffic/scene/controller.h"

namespace traffic::train {

/// The decisions begin with the vehicles that the script commanded, in the order of the candidates.
/// The other candidates follow with the command "none", until there are may_pick decisions.
/// @param vehicle_id ids of the candidates
/// @param asked commands that the script gave in the control period after the state. The script may
///   have decided in every second of the period.
/// @param commands commands of the policy's actions, "none" first
/// @param may_pick maximum number of decisions
/// @param least_s a vehicle counts as commanded if the script held its first command for at least
///   this many seconds in total
DecisionColumns expert_decisions(std::span<const std::uint32_t> vehicle_id,
                                 std::span<const scene::Command> asked,
                                 std::span<const scene::CommandKind> commands,
                                 std::int64_t may_pick, double least_s);

}  // namespace traffic::train
