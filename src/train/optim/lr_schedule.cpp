#include "optim/lr_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "traffic/core/error.h"

namespace traffic::train {

double LrSchedule::decayed(std::int64_t step) const {
  if (step < warmup_steps) return peak;
  const std::int64_t decay_steps = std::max<std::int64_t>(1, total_steps - warmup_steps);
  const double progress =
      std::min(1.0, static_cast<double>(step - warmup_steps) / static_cast<double>(decay_steps));
  if (decay == Decay::kLinear) return std::lerp(peak, floor, progress);
  return floor + (peak - floor) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
}

double LrSchedule::at(std::int64_t step) const {
  const std::int64_t warm = std::max<std::int64_t>(0, step - first_step + 1);
  if (warmup_steps == 0 || warm > warmup_steps) return decayed(step);
  return decayed(step) * static_cast<double>(warm) / static_cast<double>(warmup_steps);
}

LrSchedule schedule_of(const config::Ppo& ppo, std::int64_t iterations,
                       std::int64_t first_iteration) {
  return {.peak = ppo.learning_rate,
          .floor = ppo.final_learning_rate,
          .warmup_steps = ppo.warmup_iterations,
          .total_steps = iterations,
          .decay = ppo.lr_schedule == "cosine" ? Decay::kCosine : Decay::kLinear,
          .first_step = first_iteration};
}

LrSchedule schedule_of(const config::Train& train, int num_ranks, std::int64_t total_steps) {
  const double factor = learning_rate_factor(train.lr_scaling, num_ranks);
  const double warmup_share = std::min(
      0.5, train.warmup_epochs / static_cast<double>(std::max<std::int64_t>(1, train.epochs)));
  return {.peak = factor * train.learning_rate,
          .floor = factor * train.min_learning_rate,
          .warmup_steps = std::llround(warmup_share * static_cast<double>(total_steps)),
          .total_steps = total_steps};
}

double learning_rate_factor(std::string_view scaling, int num_ranks) {
  if (scaling == "linear") return num_ranks;
  if (scaling == "sqrt") return std::sqrt(num_ranks);
  TRAFFIC_CHECK(scaling == "none",
                "unknown scaling of learning rates '{}', expected none, linear or sqrt", scaling);
  return 1.0;
}

}  // namespace traffic::train
