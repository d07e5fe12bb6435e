/// Version and build type of the programs.
#pragma once

#include <string_view>

namespace traffic {

/// "major.minor.patch" of the project.
std::string_view version();
/// CMake's build type: Release, RelWithDebInfo, ...
std::string_view build_type();

}  // namespace traffic
