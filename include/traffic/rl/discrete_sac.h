/// Soft actor-critic with discrete actions. The expectation over the actions is an exact sum, not
/// an estimate from sampled actions.
///
/// Source: Christodoulou 2019, arXiv:1910.07207, after Haarnoja et al. 2018, arXiv:1812.05905.
#pragma once

#include <torch/types.h>

namespace traffic::rl {

/// Action values of two critics. The functions below use the smaller of the two values of each
/// action, because a single critic overestimates.
struct TwinQ {
  torch::Tensor first;   ///< [B, actions]
  torch::Tensor second;  ///< [B, actions]
};

/// Values of states: sum_a pi(a) (min Q(a) - alpha log pi(a)), without gradient.
/// @param logits [B, actions] of the policy pi
/// @param alpha temperature: weight of the entropy
/// @return [B]
/// @throws ShapeError
torch::Tensor soft_values(const torch::Tensor& logits, const TwinQ& q, double alpha);

struct SacActorLoss {
  torch::Tensor loss;         ///< scalar, differentiable in the logits
  torch::Tensor entropy_sum;  ///< scalar: entropy summed over the batch, nats, without gradient
};
/// Sum over the batch of sum_a pi(a) (alpha log pi(a) - min Q(a)), divided by the denominator.
/// @param logits [B, actions] of the policy pi
/// @param q not differentiated
/// @param denominator number of transitions on all ranks
/// @throws ShapeError
SacActorLoss sac_actor_loss(const torch::Tensor& logits, const TwinQ& q, double alpha,
                            double denominator);

/// Derivative of the temperature loss log_alpha * (mean entropy - target) with respect to
/// log_alpha. The temperature falls while the entropy of the policy is above the target.
[[nodiscard]] inline double temperature_gradient(double mean_entropy, double target_entropy) {
  return mean_entropy - target_entropy;
}

}  // namespace traffic::rl
