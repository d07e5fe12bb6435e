/// What an update aims at: values, returns and advantages of a whole experience.
#include <algorithm>

#include "ppo/learner.h"
#include "ppo/value_fit.h"
#include "traffic/rl/advantages.h"

namespace traffic::train {

Learner::Values Learner::values_of(const Experience& experience) {
  const torch::NoGradGuard no_grad;
  const auto compute = [&](const torch::Tensor& conflicts) {
    const auto rows = conflicts.flatten(0, 1).to(policy_.device());
    return policy_.value(rows).to(torch::kCPU).view({-1, conflicts_});
  };
  return {.states = compute(experience.conflict), .final = compute(experience.final_conflict)};
}

torch::Tensor Learner::advantages(const Experience& experience, const Values& values,
                                  double gae_lambda) const {
  return advantages_of(experience, experience.rewards,
                       {value_scale_.restore(values.states), value_scale_.restore(values.final)},
                       ppo_.gamma, gae_lambda);
}

double Learner::explained_variance(const Experience& experience, const torch::Tensor& returns,
                                   const torch::Tensor& values) {
  const auto variance = [&](const torch::Tensor& x) {
    const torch::Tensor deviation =
        rl::scale_of(moments_over_ranks(x, experience, communicator_)).deviation;
    return deviation.square().sum().item<double>();
  };
  return 1.0 - variance(returns - values) / variance(returns);
}

PpoTargets Learner::make_targets(const Experience& experience, std::int64_t total_states,
                                 std::int64_t iteration, UpdateResult& result) {
  PpoTargets targets;
  const Values values = values_of(experience);
  const torch::Tensor in_units = advantages(experience, values, ppo_.gae_lambda);
  const torch::Tensor returns = in_units + value_scale_.restore(values.states);
  const torch::Tensor moments = moments_over_ranks(returns, experience, communicator_);
  result.mean_return = moments[rl::kSum].sum().item<double>() /
                       std::max(1.0, moments[rl::kCount].sum().item<double>());
  value_scale_.update(moments);
  targets.returns = value_scale_.standardise(returns).to(torch::kFloat);
  targets.old_values = values.states;
  const Climb climb = constraint_ == nullptr
                          ? Climb{.advantages = in_units, .own_cost = experience.own_cost}
                          : constraint_->weigh({.experience = experience,
                                                .reward_advantages = in_units,
                                                .total_states = total_states,
                                                .iteration = iteration});
  add_policy_targets(experience, climb, targets);
  return targets;
}

void Learner::add_policy_targets(const Experience& experience, const Climb& climb,
                                 PpoTargets& targets) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor& in_units = climb.advantages;
  // The scale is that of the states in which something was decided.
  const torch::Tensor flat = in_units.flatten().index_select(
      0, experience.decision_state * conflicts_ + experience.decision_conflict);
  torch::Tensor per_conflict = torch::zeros({flat.size(0), conflicts_});
  per_conflict.scatter_(1, experience.decision_conflict.unsqueeze(1), flat.unsqueeze(1));
  torch::Tensor moments =
      rl::moments_of(per_conflict, conflicts_,
                     torch::zeros({flat.size(0), conflicts_}, torch::kBool)
                         .scatter_(1, experience.decision_conflict.unsqueeze(1), true));
  communicator_.all_reduce(moments);
  const rl::Scale scale = rl::scale_of(moments);
  targets.advantages = rl::decision_advantages({.advantages = in_units,
                                                .state = experience.decision_state,
                                                .conflict = experience.decision_conflict,
                                                .own_cost = climb.own_cost},
                                               scale);
  const torch::Tensor standard = (in_units - scale.mean) / scale.deviation;
  const torch::Tensor cost = torch::zeros({experience.num_states()})
                                 .index_add(0, experience.decision_state, climb.own_cost);
  const auto mean = [&](const torch::Tensor& of_conflicts) {
    return (of_conflicts * experience.exists).sum(1) / experience.exists.sum(1);
  };
  targets.selection = (mean(standard) - cost / mean(scale.deviation)).to(torch::kFloat);

  const torch::Tensor everything = torch::arange(experience.num_states());
  const Minibatch all = take(experience, everything, policy_.device());
  const PolicyTermsOf terms = policy_.evaluate(all.input, all.decisions);
  targets.old_log_prob = terms.log_prob.to(torch::kCPU);
  targets.old_selection = terms.selection_log_prob.to(torch::kCPU);
}

}  // namespace traffic::train
