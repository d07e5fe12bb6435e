/// Losses of DDPG (deep deterministic policy gradients) for discrete actions. An action is a
/// one-hot vector that the actor computes and the critic reads, and gradients pass from the critic
/// through it to the actor.
///
/// Source: Lillicrap et al. 2016, arXiv:1509.02971.
#pragma once

#include <torch/types.h>

namespace traffic::rl {

/// Adds Gumbel noise to the logits and returns the best action as a one-hot vector. Its gradient is
/// that of softmax(noisy logits / temperature).
/// @param logits [B, actions]
/// @param uniforms [B, actions] in (0, 1)
/// Source: Jang et al. 2017, arXiv:1611.01144, "straight-through".
torch::Tensor gumbel_straight_through(const torch::Tensor& logits, const torch::Tensor& uniforms,
                                      double temperature);

/// Squared error of the critic: sum of (q - target)^2 / denominator.
/// @param q [B], differentiated
/// @param targets [B]
/// @param denominator number of transitions on all ranks
torch::Tensor ddpg_critic_loss(const torch::Tensor& q, const torch::Tensor& targets,
                               double denominator);

/// Loss that raises the critic's value of the actor's actions: -sum of q / denominator.
/// @param q [B], differentiable in the actions
/// @param denominator number of transitions on all ranks
torch::Tensor ddpg_actor_loss(const torch::Tensor& q, double denominator);

}  // namespace traffic::rl
