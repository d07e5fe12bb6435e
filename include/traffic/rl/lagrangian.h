/// The safety constraint of the training ppo_constrained (phase 3): the mean safety cost of a
/// control step must not exceed a limit. A Lagrange multiplier weighs the cost against the reward,
/// and rises while the policy exceeds the limit.
#pragma once

#include <torch/types.h>

#include "traffic/rl/parameters.h"

namespace traffic::rl {

/// The Lagrange multiplier. All ranks must update it with the same cost: the cost per control step,
/// averaged over the episodes of all ranks. To save it, save value(); to restore it, call
/// set_value().
/// Source: Ray et al. 2019, "Benchmarking safe exploration".
class LagrangeMultiplier {
 public:
  /// @throws ConfigError if a parameter is out of range
  explicit LagrangeMultiplier(const ConstraintParameters& parameters);

  [[nodiscard]] double value() const { return value_; }
  /// Whether the multiplier is at its upper bound. The policy then exceeded the limit although the
  /// multiplier had risen to the maximum.
  [[nodiscard]] bool is_at_max() const { return value_ >= parameters_.lagrange_max; }

  /// Makes one step of gradient ascent, within [0, lagrange_max]: the multiplier rises if the cost
  /// is over the limit and falls if the cost is under the limit.
  /// @throws NumericError if the cost is not finite
  void update(double mean_episode_cost);

  /// Restores a saved value. @throws ConfigError if it is outside [0, lagrange_max]
  void set_value(double value);

 private:
  ConstraintParameters parameters_;
  double value_;
};

/// The advantages that the policy of phase 3 maximises: (A_r - lambda * A_c) / (1 + lambda). A_r
/// are the advantages of the reward, A_c those of the cost, and lambda is the multiplier. The
/// division keeps the size of a policy update independent of lambda (as in OmniSafe). Normalise
/// both advantages first; otherwise a suitable lambda depends on their units.
/// @throws ShapeError if shapes, types or devices disagree
torch::Tensor constrained_advantages(const torch::Tensor& reward_advantages,
                                     const torch::Tensor& cost_advantages, double lambda);

}  // namespace traffic::rl
