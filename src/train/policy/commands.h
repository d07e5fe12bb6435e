/// Maps commands to their indices in vehicles.commands, the list from which a categorical policy
/// chooses.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/action.h"

namespace traffic::train {

/// The parsed vehicles.commands; the first one is "none".
std::vector<scene::CommandKind> commands_of(const config::Vehicles& vehicles);

/// Index of `asked` in `commands`; nothing if the list does not contain it.
std::optional<std::size_t> place_among(std::span<const scene::CommandKind> commands,
                                       const scene::CommandKind& asked);

/// Appends to `advised`, for each candidate of a period, the index of the command that the advisor
/// gives it. The index is 0 ("none") if the advisor gives no command, or one that is not in
/// `commands`.
void find_advised(const rollout::Period& period, std::span<const scene::CommandKind> commands,
                  std::vector<std::size_t>& advised);

}  // namespace traffic::train
