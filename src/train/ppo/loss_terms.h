/// What the loss of a minibatch of phase 2 is computed from, beside the policy.
#pragma once

#include <torch/types.h>

#include "policy/policy.h"
#include "ppo/targets.h"
#include "rollouts/experience.h"
#include "traffic/rl/ppo_loss.h"

namespace traffic::train {

/// Of the B states, D decisions and C conflicts of a minibatch.
struct LossTerms {
  torch::Tensor old_log_prob;       ///< [D]
  torch::Tensor advantages;         ///< [D]
  torch::Tensor selection_decides;  ///< [B] bool
  torch::Tensor old_selection;      ///< [B]
  torch::Tensor selection;          ///< [B]
  torch::Tensor conflict;           ///< [B, C, conflict]
  torch::Tensor exists;             ///< [B, C] bool
  torch::Tensor old_values;         ///< [B, C]
  torch::Tensor returns;            ///< [B, C]
};
LossTerms take_loss_terms(const Experience& experience, const PpoTargets& targets,
                          const Minibatch& minibatch, torch::Device device);

/// Asks policy and value, with gradients. Everything is on the policy's device.
rl::PpoLossInputs loss_inputs(Policy& policy, const PolicyInput& input, const Decisions& decisions,
                              const LossTerms& terms);

}  // namespace traffic::train
