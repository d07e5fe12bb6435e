// Targets and losses of soft actor-critic (SAC) with discrete actions.
#include "traffic/rl/discrete_sac.h"

#include "check.h"

namespace traffic::rl {
namespace {

torch::Tensor smaller(const torch::Tensor& logits, const TwinQ& q) {
  check_floating("logits", logits, 2);
  check_like("the first critic's values", q.first, logits);
  check_like("the second critic's values", q.second, logits);
  return torch::minimum(q.first, q.second).detach();
}

}  // namespace

torch::Tensor soft_values(const torch::Tensor& logits, const TwinQ& q, double alpha) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor least = smaller(logits, q);
  const torch::Tensor log_pi = logits.log_softmax(1);
  return (log_pi.exp() * (least - alpha * log_pi)).sum(1);
}

SacActorLoss sac_actor_loss(const torch::Tensor& logits, const TwinQ& q, double alpha,
                            double denominator) {
  const torch::Tensor least = smaller(logits, q);
  const torch::Tensor log_pi = logits.log_softmax(1);
  const torch::Tensor pi = log_pi.exp();
  return {.loss = (pi * (alpha * log_pi - least)).sum() / denominator,
          .entropy_sum = -(pi * log_pi).sum().detach()};
}

}  // namespace traffic::rl
