// The safety constraint of constrained PPO and its Lagrange multiplier.
#include "traffic/rl/lagrangian.h"

#include <algorithm>
#include <cmath>

#include "check.h"

namespace traffic::rl {

LagrangeMultiplier::LagrangeMultiplier(const ConstraintParameters& parameters)
    : parameters_(parameters), value_(0.0) {
  if (!(parameters.cost_limit >= 0.0) || !(parameters.lagrange_lr > 0.0) ||
      !(parameters.lagrange_max >= 0.0) || !std::isfinite(parameters.lagrange_max)) {
    throw ConfigError(
        "constraint: cost_limit is {} (expected at least 0), lagrange_lr {} (expected more than "
        "0), lagrange_max {} (expected a finite number of at least 0)",
        parameters.cost_limit, parameters.lagrange_lr, parameters.lagrange_max);
  }
  set_value(parameters.lagrange_init);
}

void LagrangeMultiplier::update(double mean_episode_cost) {
  if (!std::isfinite(mean_episode_cost)) {
    throw NumericError("the mean episode cost is {}: the Lagrange multiplier cannot be updated",
                       mean_episode_cost);
  }
  const double step = parameters_.lagrange_lr * (mean_episode_cost - parameters_.cost_limit);
  value_ = std::clamp(value_ + step, 0.0, parameters_.lagrange_max);
}

void LagrangeMultiplier::set_value(double value) {
  if (!(value >= 0.0 && value <= parameters_.lagrange_max)) {
    throw ConfigError("the Lagrange multiplier is {}, expected 0 to {} (lagrange_max)", value,
                      parameters_.lagrange_max);
  }
  value_ = value;
}

torch::Tensor constrained_advantages(const torch::Tensor& reward_advantages,
                                     const torch::Tensor& cost_advantages, double lambda) {
  check_like("constrained_advantages: cost", cost_advantages, reward_advantages);
  return (reward_advantages - lambda * cost_advantages) / (1.0 + lambda);
}

}  // namespace traffic::rl
