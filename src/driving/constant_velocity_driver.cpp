// A driver that keeps its speed and direction.
#include "traffic/driving/rule_drivers.h"

namespace traffic::driving {

std::vector<Plan> ConstantVelocityDriver::plan(std::span<const View> views) {
  std::vector<Plan> plans(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    for (std::size_t p = 0; p < kPlanPoints; ++p) {
      const double ahead_s = kFrame_s * static_cast<double>(p + 1);
      plans[i].points[p].x_m = static_cast<float>(views[i].ego[0].speed_mps * ahead_s);
    }
  }
  return plans;
}

}  // namespace traffic::driving
