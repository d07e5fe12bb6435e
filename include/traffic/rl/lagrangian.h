/// The constraint of phase 3: a price on cost that rises until the limit is kept.
#pragma once

#include <torch/types.h>

#include "traffic/rl/parameters.h"

namespace traffic::rl {

/// The Lagrange multiplier. Fed with the mean over all ranks' episodes it is the same on all of
/// them. value() is all there is to save. Source: Ray et al. 2019, "Benchmarking safe exploration".
class LagrangeMultiplier {
 public:
  /// @throws ConfigError if a parameter is out of range
  explicit LagrangeMultiplier(const ConstraintParameters& parameters);

  [[nodiscard]] double value() const { return value_; }
  /// At its upper bound: the constraint cannot be kept at any price that is allowed.
  [[nodiscard]] bool is_at_max() const { return value_ >= parameters_.lagrange_max; }

  /// One step of ascent: raised while the cost is over the limit, lowered while under it, within
  /// [0, lagrange_max].
  /// @throws NumericError if the cost is not finite
  void update(double mean_episode_cost);

  /// Restores a saved value. @throws ConfigError if it is outside [0, lagrange_max]
  void set_value(double value);

 private:
  ConstraintParameters parameters_;
  double value_;
};

/// (A_r - lambda * A_c) / (1 + lambda): what the policy of phase 3 climbs. Dividing keeps the
/// step's size whatever the multiplier is (as OmniSafe does); the direction is that of A_r - lambda
/// * A_c. Both from gae, any equal shape; scale reward and cost before, or lambda has the ratio of
/// their units in it.
/// @throws ShapeError if shapes, types or devices disagree
torch::Tensor constrained_advantages(const torch::Tensor& reward_advantages,
                                     const torch::Tensor& cost_advantages, double lambda);

}  // namespace traffic::rl
