/// Soft actor-critic with a choice of actions: what can be summed over actions is, so nothing is
/// sampled but the batch.
///
/// Source: Christodoulou 2019, arXiv:1910.07207, after Haarnoja et al. 2018, arXiv:1812.05905.
#pragma once

#include <torch/types.h>

namespace traffic::rl {

/// The smaller of two critics' values of actions, for both overestimate.
struct TwinQ {
  torch::Tensor first;   ///< [B, actions]
  torch::Tensor second;  ///< [B, actions]
};

/// sum_a pi(a) (min Q(a) - alpha log pi(a)), without gradient.
/// @param logits [B, actions] of the policy
/// @return [B]
/// @throws ShapeError
torch::Tensor soft_values(const torch::Tensor& logits, const TwinQ& q, double alpha);

struct SacActorLoss {
  torch::Tensor loss;         ///< scalar, differentiable in the logits
  torch::Tensor entropy_sum;  ///< scalar, nats, without gradient
};
/// sum over the batch of sum_a pi(a) (alpha log pi(a) - min Q(a)), divided by the denominator.
/// @param q is not differentiated
SacActorLoss sac_actor_loss(const torch::Tensor& logits, const TwinQ& q, double alpha,
                            double denominator);

/// Derivative of the temperature's loss, log_alpha * (mean entropy - target), for log_alpha: the
/// temperature falls while the policy is more random than the target.
[[nodiscard]] inline double temperature_gradient(double mean_entropy, double target_entropy) {
  return mean_entropy - target_entropy;
}

}  // namespace traffic::rl
