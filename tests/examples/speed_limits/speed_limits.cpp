#include "speed_limits.h"

namespace traffic::example {

std::vector<config::OwnSection> speed_limits_sections() {
  std::vector<config::Row> rows = {
      {TRAFFIC_EXTENSION_KEY("speed_limits", SpeedLimits, edges),
       .help = "Edges whose speed limit a sign sets."},
      {TRAFFIC_EXTENSION_KEY("speed_limits", SpeedLimits, period_s),
       .help = "Time between two decisions of a sign.", .unit = "s",
       .range = config::between(1, 3600)},
      {TRAFFIC_EXTENSION_KEY("speed_limits", SpeedLimits, learning_rate),
       .help = "Length of a step of the policy gradient.", .range = config::between(0, 100),
       .is_learning_rate = true},
  };
  return {{{"speed_limits", "Variable speed limit signs as an agent."}, rows}};
}

}  // namespace traffic::example
