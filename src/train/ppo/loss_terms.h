/// The inputs of a minibatch's PPO loss.
#pragma once

#include <torch/types.h>

#include "policy/policy.h"
#include "ppo/targets.h"
#include "rollouts/experience.h"
#include "traffic/rl/ppo_loss.h"

namespace traffic::train {

/// The fixed terms of a minibatch of B states, D decisions and C conflicts.
struct LossTerms {
  torch::Tensor old_log_prob;       ///< [D]
  torch::Tensor advantages;         ///< [D]
  torch::Tensor selection_decides;  ///< [B] bool
  torch::Tensor old_selection;      ///< [B] log-probability of the selection before the update
  torch::Tensor selection;          ///< [B] advantage of the selection
  torch::Tensor conflict;           ///< [B, C, conflict]
  torch::Tensor exists;             ///< [B, C] bool
  torch::Tensor old_values;         ///< [B, C]
  torch::Tensor returns;            ///< [B, C]
};
LossTerms take_loss_terms(const Experience& experience, const PpoTargets& targets,
                          const Minibatch& minibatch, torch::Device device);

/// Evaluates policy and value, with gradients. All tensors are on the policy's device.
rl::PpoLossInputs loss_inputs(Policy& policy, const PolicyInput& input, const Decisions& decisions,
                              const LossTerms& terms);

}  // namespace traffic::train
