// Action values, targets and losses of Q-learning.
#include "traffic/rl/q_learning.h"

#include "check.h"

namespace traffic::rl {

torch::Tensor n_step_targets(const NStepReturns& steps, const torch::Tensor& next_values) {
  check_floating("returns", steps.returns, 1);
  check_like("discounts", steps.discounts, steps.returns);
  check_like("next values", next_values, steps.returns);
  const torch::NoGradGuard no_grad;
  return torch::addcmul(steps.returns, steps.discounts, next_values);
}

torch::Tensor dueling_q(const torch::Tensor& heads) {
  check_floating("heads", heads, 2);
  const torch::Tensor value = heads.narrow(1, 0, 1);
  const torch::Tensor advantages = heads.narrow(1, 1, heads.size(1) - 1);
  return advantages + (value - advantages.mean(1, /*keepdim=*/true));
}

torch::Tensor double_q_values(const torch::Tensor& online_q, const torch::Tensor& target_q) {
  check_floating("values of actions", online_q, 2);
  check_like("the target network's values of actions", target_q, online_q);
  const torch::NoGradGuard no_grad;
  return target_q.gather(1, online_q.argmax(1, /*keepdim=*/true)).squeeze(1);
}

torch::Tensor values_of(const torch::Tensor& q, const torch::Tensor& actions) {
  check_floating("values of actions", q, 2);
  check_tensor("actions", actions, {q.size(0)}, torch::kLong, q.device());
  return q.gather(1, actions.unsqueeze(1)).squeeze(1);
}

torch::Tensor joint_q(const torch::Tensor& values, const JointChoices& choices) {
  check_floating("values of states", values, 1);
  check_floating("advantages", choices.advantages, 2);
  check_tensor("states of choices", choices.state, {choices.advantages.size(0)}, torch::kLong,
               values.device());
  const torch::Tensor chosen =
      values_of(choices.advantages, choices.actions) - choices.advantages.mean(1);
  return values.index_add(0, choices.state, chosen);
}

torch::Tensor segment_q(const torch::Tensor& values, const torch::Tensor& advantages,
                        const Segments& states, const torch::Tensor& rows) {
  check_tensor("values of states", values, {states.count()}, values.scalar_type(), values.device());
  check_tensor("advantages", advantages, {states.rows()}, values.scalar_type(), values.device());
  check_tensor("rows", rows, {states.count()}, torch::kLong, values.device());
  return values + advantages.index_select(0, rows) - states.sum(advantages) / states.sizes();
}

torch::Tensor value_loss(const torch::Tensor& values, const torch::Tensor& targets,
                         double denominator) {
  check_floating("values", values, 1);
  check_like("targets", targets, values);
  return torch::smooth_l1_loss(values, targets, torch::Reduction::Sum) / denominator;
}

}  // namespace traffic::rl
