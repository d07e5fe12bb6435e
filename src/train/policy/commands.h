/// Commands of scripted controllers among those of a categorical controller.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/action.h"

namespace traffic::train {

/// vehicles.commands, "none" first.
std::vector<scene::CommandKind> commands_of(const config::Vehicles& vehicles);

/// Place among the commands; nothing if it is none of them.
std::optional<std::size_t> place_among(std::span<const scene::CommandKind> commands,
                                       const scene::CommandKind& asked);

/// Appends, for each candidate of a period, the place of what the advisor would ask of it: 0 where
/// it asks for nothing, or for what is none of the commands.
void find_advised(const rollout::Period& period, std::span<const scene::CommandKind> commands,
                  std::vector<std::size_t>& advised);

}  // namespace traffic::train
