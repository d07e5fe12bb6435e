/// Targets and losses of soft actor-critic (SAC) with discrete actions. The expectation over the
/// actions is an exact sum, not an estimate from sampled actions.
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

/// Values of states: sum over actions a of pi(a) (min Q(a) - alpha log pi(a)), without gradient.
/// min Q is the smaller value of the two critics.
/// @param logits [B, actions] of the policy pi
/// @param alpha temperature: weight of the entropy
/// @return [B]
/// @throws ShapeError if shapes, types or devices disagree
torch::Tensor soft_values(const torch::Tensor& logits, const TwinQ& q, double alpha);

struct SacActorLoss {
  torch::Tensor loss;         ///< scalar, differentiable in the logits
  torch::Tensor entropy_sum;  ///< scalar: entropy summed over the batch, nats, without gradient
};
/// The sum of pi(a) (alpha log pi(a) - min Q(a)) over the batch and the actions a, divided by the
/// denominator.
/// @param logits [B, actions] of the policy pi
/// @param q not differentiated
/// @param denominator number of transitions on all ranks
/// @throws ShapeError if shapes, types or devices disagree
SacActorLoss sac_actor_loss(const torch::Tensor& logits, const TwinQ& q, double alpha,
                            double denominator);

/// Derivative of the loss of the temperature alpha with respect to log_alpha. The loss is log_alpha
/// * (mean entropy - target entropy), so its minimisation lowers alpha while the entropy of the
/// policy is above the target.
[[nodiscard]] inline double temperature_gradient(double mean_entropy, double target_entropy) {
  return mean_entropy - target_entropy;
}

}  // namespace traffic::rl
