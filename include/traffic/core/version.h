/// Version of the program, the same in all programs of a build.
#pragma once

#include <string_view>

namespace traffic {

/// "major.minor.patch" of the project.
std::string_view version();

}  // namespace traffic
