/// Makes the scripted controllers that set traffic lights.
#pragma once

#include <memory>

#include "traffic/config/controller_spec.h"
#include "traffic/scene/controller.h"

namespace traffic::scene {

/// @return null if the controller is not a script for traffic lights
std::unique_ptr<Controller> make_signal_script(const config::ControllerSpec& spec,
                                               const ControllerOptions& options);

}  // namespace traffic::scene
