/// Deterministic policy gradients where actions are choices: what stands for an action is a vector
/// that the critic takes and that a gradient can go through.
///
/// Source: Lillicrap et al. 2016, arXiv:1509.02971.
#pragma once

#include <torch/types.h>

namespace traffic::rl {

/// The best action after Gumbel noise as a one-hot vector; backwards as the softmax of the noisy
/// logits over the temperature.
/// @param logits [B, actions]
/// @param uniforms [B, actions] in (0, 1)
/// Source: Jang et al. 2017, arXiv:1611.01144, "straight-through".
torch::Tensor gumbel_straight_through(const torch::Tensor& logits, const torch::Tensor& uniforms,
                                      double temperature);

/// Mean squared error of the critic: sum of (q - target)^2, divided by the denominator.
/// @param q [B], differentiated
/// @param targets [B]
torch::Tensor ddpg_critic_loss(const torch::Tensor& q, const torch::Tensor& targets,
                               double denominator);

/// The critic's value of the actor's actions is to rise: -sum of q, divided by the denominator.
/// @param q [B], differentiated in the actions
torch::Tensor ddpg_actor_loss(const torch::Tensor& q, double denominator);

}  // namespace traffic::rl
