/// Prepares the inputs of the PPO loss of a minibatch, for the learner of vehicles.
#pragma once

#include <torch/types.h>

#include "policy/policy.h"
#include "ppo/targets.h"
#include "rollouts/experience.h"
#include "traffic/rl/ppo_loss.h"

namespace traffic::train {

/// The terms of the loss that stay the same during an update, for a minibatch of B states, D
/// decisions and C conflicts. A decision gives a vehicle its command. A selection picks the
/// vehicles.
struct LossTerms {
  torch::Tensor old_log_prob;       ///< [D]
  torch::Tensor advantages;         ///< [D]
  torch::Tensor selection_decides;  ///< [B] bool: there were more candidates than picks
  torch::Tensor old_selection;      ///< [B] log-probability of the selection before the update
  torch::Tensor selection;          ///< [B] advantage of the selection
  torch::Tensor conflict;           ///< [B, C, conflict] inputs of the value network
  torch::Tensor exists;             ///< [B, C] bool: the state's road has this conflict
  torch::Tensor old_values;         ///< [B, C] values before the update, standardised
  torch::Tensor returns;            ///< [B, C] standardised
};

/// Picks the terms of a minibatch from those of the whole experience.
LossTerms take_loss_terms(const Experience& experience, const PpoTargets& targets,
                          const Minibatch& minibatch, torch::Device device);

/// Evaluates policy and value, with gradients. All tensors are on the policy's device.
rl::PpoLossInputs loss_inputs(Policy& policy, const PolicyInput& input, const Decisions& decisions,
                              const LossTerms& terms);

}  // namespace traffic::train
