/// Milder versions of a script.
#pragma once

#include <string>
#include <vector>

#include "traffic/config/controller_spec.h"

namespace traffic::train {

/// Versions that may gain almost as much and brake less: with fewer vehicles at once, with gentler
/// braking, from farther away, at higher speeds, or only in denser traffic. The version that is
/// least unlike the script comes first. Scripts of traffic lights have none.
std::vector<std::string> safer_scripts(const config::ControllerSpec& script);

}  // namespace traffic::train
