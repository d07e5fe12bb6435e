#include "traffic/rl/schedule.h"

#include <algorithm>
#include <cmath>

namespace traffic::rl {

double LinearSchedule::at(double progress) const {
  return std::lerp(start, end, std::clamp(progress, 0.0, 1.0));
}

double warmup_factor(std::int64_t step, std::int64_t steps) {
  if (steps <= 0) return 1.0;
  return std::min(1.0, static_cast<double>(step + 1) / static_cast<double>(steps));
}

}  // namespace traffic::rl
