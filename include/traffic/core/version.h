/// Version and build of the program, the same in all programs of a build.
#pragma once

#include <string_view>

namespace traffic {

/// "major.minor.patch" of the project.
std::string_view version();
/// CMake's: Release, RelWithDebInfo, ...
std::string_view build_type();

}  // namespace traffic
