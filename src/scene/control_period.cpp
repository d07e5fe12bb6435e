// Converts the time between two decisions of a controller to steps of the simulation.
#include "traffic/scene/control_period.h"

#include <algorithm>
#include <cmath>

#include "traffic/core/error.h"

namespace traffic::scene {

ControlPeriod::ControlPeriod(double period_s, double step_s)
    : steps_(std::llround(period_s / step_s)) {
  constexpr double kFrameInterval_s = 1.0;
  if (steps_ < 1 || std::abs(static_cast<double>(steps_) * step_s - period_s) > kTimeTolerance_s) {
    throw ConfigError(
        "env.control_period_s is {} s, expected a multiple of the scenario's step length {} s",
        period_s, step_s);
  }
  steps_per_frame_ = std::max<std::int64_t>(1, std::llround(kFrameInterval_s / step_s));
}

}  // namespace traffic::scene
