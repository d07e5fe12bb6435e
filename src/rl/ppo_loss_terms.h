/// The two implementations of ppo_loss() and value_loss_sum() (ppo_loss.h), for inputs that those
/// functions have checked.
#pragma once

#include <torch/types.h>

#include "traffic/rl/ppo_loss.h"

namespace traffic::rl {

/// These two functions compute the losses by tensor operations on any device.
PpoLoss ppo_loss_by_operations(const PpoLossInputs& in, const PpoDenominators& denominators,
                               const PpoCoefficients& coefficients);
torch::Tensor value_loss_sum_by_operations(const ValueTerms& in, double vf_clip_range);

/// These two functions compute the losses on the CPU. Plain loops compute the loss, the sums and
/// the derivatives together, as one node of the autograd graph. A minibatch has a few hundred
/// terms, for which some sixty tensor operations would take ten times as long.
PpoLoss ppo_loss_in_loops(const PpoLossInputs& in, const PpoDenominators& denominators,
                          const PpoCoefficients& coefficients);
torch::Tensor value_loss_sum_in_loops(const ValueTerms& in, double vf_clip_range);

}  // namespace traffic::rl
