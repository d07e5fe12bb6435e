/// The constraint of phase 3: a multiplier on the cost that rises until the cost limit is met.
#pragma once

#include <torch/types.h>

#include "traffic/rl/parameters.h"

namespace traffic::rl {

/// The Lagrange multiplier. It is the same on all ranks when all pass the mean cost over all ranks'
/// episodes. value() is its whole state. Source: Ray et al. 2019, "Benchmarking safe exploration".
class LagrangeMultiplier {
 public:
  /// @throws ConfigError if a parameter is out of range
  explicit LagrangeMultiplier(const ConstraintParameters& parameters);

  [[nodiscard]] double value() const { return value_; }
  /// Whether the multiplier is at its upper bound: even that did not make the policy meet the
  /// limit.
  [[nodiscard]] bool is_at_max() const { return value_ >= parameters_.lagrange_max; }

  /// One step of gradient ascent: raises the multiplier while the cost is over the limit and lowers
  /// it while under, within [0, lagrange_max].
  /// @throws NumericError if the cost is not finite
  void update(double mean_episode_cost);

  /// Restores a saved value. @throws ConfigError if it is outside [0, lagrange_max]
  void set_value(double value);

 private:
  ConstraintParameters parameters_;
  double value_;
};

/// (A_r - lambda * A_c) / (1 + lambda): the advantages that the policy of phase 3 maximises. The
/// division keeps the step size independent of the multiplier (as in OmniSafe); the direction stays
/// that of A_r - lambda * A_c. Both inputs come from gae and have equal shapes. Normalise reward
/// and cost first; otherwise lambda also contains the ratio of their units.
/// @throws ShapeError if shapes, types or devices disagree
torch::Tensor constrained_advantages(const torch::Tensor& reward_advantages,
                                     const torch::Tensor& cost_advantages, double lambda);

}  // namespace traffic::rl
