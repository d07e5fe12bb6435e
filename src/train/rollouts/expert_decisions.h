/// What a scripted controller did, as decisions of the controller that is to learn it.
#pragma once

#include <cstdint>
#include <span>

#include "policy/decisions.h"
#include "traffic/scene/controller.h"

namespace traffic::train {

/// Vehicles that were commanded come first, in the order of the candidates; the others stand behind
/// them with the command "none" while there is room.
/// @param vehicle_id of the candidates
/// @param asked by the scripted controller in the control period that followed, which may have
/// decided every second of it
/// @param commands of the actions, "none" first
/// @param least_s for how long it must have asked for a vehicle, in all, to have commanded it
DecisionColumns expert_decisions(std::span<const std::uint32_t> vehicle_id,
                                 std::span<const scene::Command> asked,
                                 std::span<const scene::CommandKind> commands,
                                 std::int64_t may_pick, double least_s);

}  // namespace traffic::train
