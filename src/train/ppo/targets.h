/// The targets of a PPO update of the vehicles' policy; targets.cpp computes them.
#pragma once

#include <torch/types.h>

namespace traffic::train {

/// The terms of the loss that stay the same during an update, for an experience of S states, D
/// decisions and C conflicts. All tensors are on the CPU. A selection picks the vehicles of a state
/// for which the policy then decides.
struct PpoTargets {
  torch::Tensor returns;        ///< [S, C] standardised
  torch::Tensor old_values;     ///< [S, C] values before the update, standardised
  torch::Tensor advantages;     ///< [D]
  torch::Tensor selection;      ///< [S] advantages of the selections
  torch::Tensor old_log_prob;   ///< [D] log-probabilities of the decisions before the update
  torch::Tensor old_selection;  ///< [S] log-probabilities of the selections before the update
};

}  // namespace traffic::train
