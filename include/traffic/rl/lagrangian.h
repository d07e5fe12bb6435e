/// The constraint of phase 3, which limits the safety cost of a policy: a multiplier on the cost
/// rises until the policy meets the limit.
#pragma once

#include <torch/types.h>

#include "traffic/rl/parameters.h"

namespace traffic::rl {

/// The Lagrange multiplier. All ranks must update it with the same cost, the mean over the episodes
/// of all ranks. value() is its whole state. Source: Ray et al. 2019, "Benchmarking safe
/// exploration".
class LagrangeMultiplier {
 public:
  /// @throws ConfigError if a parameter is out of range
  explicit LagrangeMultiplier(const ConstraintParameters& parameters);

  [[nodiscard]] double value() const { return value_; }
  /// Whether the multiplier is at its upper bound, which means that no multiplier in range made the
  /// policy meet the limit.
  [[nodiscard]] bool is_at_max() const { return value_ >= parameters_.lagrange_max; }

  /// One step of gradient ascent: raises the multiplier if the cost is over the limit and lowers it
  /// if the cost is under the limit, within [0, lagrange_max].
  /// @throws NumericError if the cost is not finite
  void update(double mean_episode_cost);

  /// Restores a saved value. @throws ConfigError if it is outside [0, lagrange_max]
  void set_value(double value);

 private:
  ConstraintParameters parameters_;
  double value_;
};

/// The advantages that the policy of phase 3 maximises: (A_r - lambda * A_c) / (1 + lambda), where
/// A_r are advantages of the reward and A_c of the cost, of equal shapes. The division keeps the
/// step size independent of lambda (as in OmniSafe). Normalise both advantages first; otherwise
/// lambda depends on the ratio of their units.
/// @throws ShapeError if shapes, types or devices disagree
torch::Tensor constrained_advantages(const torch::Tensor& reward_advantages,
                                     const torch::Tensor& cost_advantages, double lambda);

}  // namespace traffic::rl
