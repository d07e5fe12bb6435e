#include "traffic/core/version.h"

namespace traffic {

std::string_view version() { return TRAFFIC_VERSION; }

}  // namespace traffic
