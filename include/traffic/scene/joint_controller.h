/// Controllers that act together in one simulation: one for vehicles, one for traffic lights.
#pragma once

#include <memory>
#include <vector>

#include "traffic/scene/controller.h"

namespace traffic::scene {

/// Joins controllers into one. Each part decides at the same times as it would alone.
/// @param parts not empty; a single part is returned unchanged
/// @throws ConfigError if two parts command vehicles, or two command lights
std::unique_ptr<Controller> join_controllers(std::vector<std::unique_ptr<Controller>> parts);

}  // namespace traffic::scene
