#include "optim/lr_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "traffic/core/error.h"

namespace traffic::train {

double LrSchedule::at(std::int64_t step) const {
  if (step < warmup_steps) {
    return peak * static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
  }
  const std::int64_t decay_steps = std::max<std::int64_t>(1, total_steps - warmup_steps);
  const double progress =
      std::min(1.0, static_cast<double>(step - warmup_steps) / static_cast<double>(decay_steps));
  return floor + (peak - floor) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
}

double learning_rate_factor(std::string_view scaling, int num_ranks) {
  if (scaling == "linear") return num_ranks;
  if (scaling == "sqrt") return std::sqrt(num_ranks);
  TRAFFIC_CHECK(scaling == "none", "learning rates are not scaled as '{}'", scaling);
  return 1.0;
}

}  // namespace traffic::train
