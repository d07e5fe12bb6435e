/// A value of conflicts, of rewards or of costs, fitted to returns.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "rollouts/experience.h"
#include "traffic/comm/communicator.h"

namespace traffic::train {

/// States of all ranks in a step at most: a value alone has no noisy decisions.
inline constexpr std::int64_t kValueMinibatch = 256;

/// What is fitted.
struct ValueFit {
  std::function<torch::Tensor(const torch::Tensor&)> value;  ///< [N, conflict] -> [N]
  std::function<void()> zero_gradients;
  std::function<void()> step;  ///< with the gradients that are there; collective
  double weight = 1.0;         ///< of the mean squared error
};

/// One pass over the minibatches with a step after each. Collective.
/// @param returns [S, C] standardised
/// @param parts this rank's states of each minibatch
/// @return [2, minibatches] float64, of this rank: how many values, sum of their losses
torch::Tensor fit_pass(const Experience& experience, const torch::Tensor& returns,
                       const std::vector<torch::Tensor>& parts, const ValueFit& fit,
                       comm::Communicator& communicator);

/// Moments of x [S, C] over all ranks, without the conflicts that a road has not. Collective.
/// @return [3, C]
torch::Tensor moments_over_ranks(const torch::Tensor& x, const Experience& experience,
                                 comm::Communicator& communicator);

}  // namespace traffic::train
