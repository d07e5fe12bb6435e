/// The scripted controllers that set traffic lights.
#pragma once

#include <memory>

#include "traffic/config/controller_spec.h"
#include "traffic/scene/controller.h"

namespace traffic::scene {

/// Null when the controller of that name is none of them.
std::unique_ptr<Controller> make_signal_script(const config::ControllerSpec& spec,
                                               const ControllerOptions& options);

}  // namespace traffic::scene
