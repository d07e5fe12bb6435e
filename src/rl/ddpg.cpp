// Losses of DDPG with discrete actions, and the actions as one-hot vectors with gradients (ddpg.h).
#include "traffic/rl/ddpg.h"

#include "check.h"

namespace traffic::rl {

torch::Tensor gumbel_straight_through(const torch::Tensor& logits, const torch::Tensor& uniforms,
                                      double temperature) {
  check_floating("logits", logits, 2);
  check_like("uniforms", uniforms, logits);
  const torch::Tensor noisy = logits - (-uniforms.log()).log();
  const torch::Tensor soft = (noisy / temperature).softmax(1);
  const torch::Tensor hard =
      torch::zeros_like(soft).scatter_(1, noisy.detach().argmax(1, /*keepdim=*/true), 1.0);
  return soft + (hard - soft).detach();
}

torch::Tensor ddpg_critic_loss(const torch::Tensor& q, const torch::Tensor& targets,
                               double denominator) {
  check_floating("values", q, 1);
  check_like("targets", targets, q);
  return torch::mse_loss(q, targets, torch::Reduction::Sum) / denominator;
}

torch::Tensor ddpg_actor_loss(const torch::Tensor& q, double denominator) {
  check_floating("values", q, 1);
  return -q.sum() / denominator;
}

}  // namespace traffic::rl
