// Version and build type of the programs.
#include "traffic/core/version.h"

namespace traffic {

std::string_view version() { return TRAFFIC_VERSION; }

std::string_view build_type() { return TRAFFIC_BUILD_TYPE; }

}  // namespace traffic
