/// Makes one controller from two that act in the same simulation: one for vehicles and one for
/// traffic lights.
#pragma once

#include <memory>
#include <vector>

#include "traffic/scene/controller.h"

namespace traffic::scene {

/// Joins controllers into one. Each of them decides at the same times as it would alone.
/// @param parts not empty; a single part is returned unchanged
/// @throws ConfigError if more than one part commands vehicles, or more than one commands lights
std::unique_ptr<Controller> join_controllers(std::vector<std::unique_ptr<Controller>> parts);

}  // namespace traffic::scene
