/// Makes milder versions of a scripted controller of vehicles. The search tries them if the script
/// that gains most is unsafe.
#pragma once

#include <string>
#include <vector>

#include "traffic/config/controller_spec.h"

namespace traffic::train {

/// Versions of the script that may gain almost as much, but make vehicles brake less. They command
/// fewer vehicles at once, brake more gently, start farther away, allow higher speeds, or act only
/// in denser traffic. Versions that are more similar to the script come first. For scripts of
/// traffic lights the list is empty.
std::vector<std::string> safer_scripts(const config::ControllerSpec& script);

}  // namespace traffic::train
