/// Milder versions of a script.
#pragma once

#include <string>
#include <vector>

#include "traffic/config/controller_spec.h"

namespace traffic::train {

/// Versions that may gain almost as much and brake less: they command fewer vehicles at once, brake
/// more gently, start farther away, allow higher speeds, or act only in denser traffic. The version
/// that is most similar to the script comes first. Scripts of traffic lights have none.
std::vector<std::string> safer_scripts(const config::ControllerSpec& script);

}  // namespace traffic::train
