/// The targets of a PPO update.
#pragma once

#include <torch/types.h>

namespace traffic::train {

/// The terms of a whole experience that stay fixed during an update, on the CPU.
struct PpoTargets {
  torch::Tensor returns;        ///< [S, C] standardised
  torch::Tensor old_values;     ///< [S, C] values before the update, standardised
  torch::Tensor advantages;     ///< [D]
  torch::Tensor selection;      ///< [S] advantages of the selections
  torch::Tensor old_log_prob;   ///< [D] log-probabilities of the decisions before the update
  torch::Tensor old_selection;  ///< [S] log-probabilities of the selections before the update
};

}  // namespace traffic::train
