/// Two controllers in one traffic: one of vehicles, one of traffic lights.
#pragma once

#include <memory>
#include <vector>

#include "traffic/scene/controller.h"

namespace traffic::scene {

/// Each decides at times of its own, as it would alone.
/// @param parts one of them: itself
/// @throws ConfigError if two of them command the same
std::unique_ptr<Controller> join_controllers(std::vector<std::unique_ptr<Controller>> parts);

}  // namespace traffic::scene
