/// Converts the commands of a scripted controller (the expert) to decisions of the policy that
/// imitates it.
#pragma once

#include <cstdint>
#include <span>

#include "policy/decisions.h"
#include "traffic/scene/controller.h"

namespace traffic::train {

/// Returns at most may_pick decisions. First come the vehicles that the script commanded, in the
/// order of the candidates. Then follow other candidates with the command "none".
/// @param vehicle_id ids of the candidates
/// @param asked commands that the script gave in the control period after the state. There may be
///   several for a vehicle, because a script may decide every second.
/// @param commands the commands that the policy chooses from, "none" first
/// @param may_pick maximum number of decisions
/// @param least_s a vehicle counts as commanded if the script held its first command for at least
///   this many seconds in total
DecisionColumns expert_decisions(std::span<const std::uint32_t> vehicle_id,
                                 std::span<const scene::Command> asked,
                                 std::span<const scene::CommandKind> commands,
                                 std::int64_t may_pick, double least_s);

}  // namespace traffic::train
