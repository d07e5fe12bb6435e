/// The part of Learner (learner.h) that fits the value, and computes the returns and advantages of
/// a whole experience.
#include <algorithm>

#include "policy/gather.h"
#include "ppo/learner.h"
#include "ppo/scenario_weights.h"
#include "traffic/rl/advantages.h"

namespace traffic::train {

void Learner::fit_value(const Experience& experience, std::int64_t total_states,
                        std::int64_t iteration, UpdateResult& result) {
  if (!critic_.is_fitted()) {
    // The values of an unfitted network are useless for bootstrapping. The estimate therefore uses
    // gae_lambda = 1, so that the returns are sums over whole trajectories.
    const Estimate whole = critic_.estimate(experience, 1.0);
    critic_.update_scale(experience, whole.returns);
    critic_.fit(experience, whole.returns,
                {.total_states = total_states, .iteration = 0, .epochs = ppo_.value_first_epochs});
  }
  const Estimate estimate = critic_.estimate(experience, ppo_.value_lambda);
  result.explained_variance = critic_.explained_variance(experience, estimate);
  critic_.fit(
      experience, estimate.returns,
      {.total_states = total_states, .iteration = iteration + 1, .epochs = ppo_.value_epochs});
}

PpoTargets Learner::make_targets(const Experience& experience, std::int64_t total_states,
                                 std::int64_t iteration, UpdateResult& result) {
  PpoTargets targets;
  const Estimate estimate = critic_.estimate(experience, ppo_.gae_lambda);
  result.mean_return = critic_.update_scale(experience, estimate.returns);
  targets.returns = critic_.standardise(estimate.returns);
  targets.old_values = estimate.standardised;
  PolicyObjective objective{.advantages = estimate.advantages, .own_cost = experience.own_cost};
  if (terms_.constraint != nullptr) {
    objective = terms_.constraint->weigh({.experience = experience,
                                          .reward_advantages = estimate.advantages,
                                          .total_states = total_states,
                                          .iteration = iteration});
  }
  add_policy_targets(experience, objective, targets);
  const torch::Tensor weights =
      scenario_weights(experience, decisions_of_states(experience), scenarios_, communicator_);
  targets.advantages *= gather(weights, experience.decision_state);
  targets.selection *= weights;
  add_old_policy(experience, iteration, targets, result);
  return targets;
}

void Learner::add_policy_targets(const Experience& experience, const PolicyObjective& objective,
                                 PpoTargets& targets) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor& in_units = objective.advantages;
  // The scale is computed only from states with decisions.
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
                                                .own_cost = objective.own_cost},
                                               scale);
  const torch::Tensor standard = (in_units - scale.mean) / scale.deviation;
  const torch::Tensor cost = torch::zeros({experience.num_states()})
                                 .index_add(0, experience.decision_state, objective.own_cost);
  const auto mean = [&](const torch::Tensor& of_conflicts) {
    return (of_conflicts * experience.exists).sum(1) / experience.exists.sum(1);
  };
  targets.selection = (mean(standard) - cost / mean(scale.deviation)).to(torch::kFloat);
}

void Learner::add_old_policy(const Experience& experience, std::int64_t iteration,
                             PpoTargets& targets, UpdateResult& result) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor everything = torch::arange(experience.num_states());
  std::vector<torch::Tensor> log_prob;
  std::vector<torch::Tensor> selection;
  for (const torch::Tensor& states : everything.split(kStatesAtOnce)) {
    const Minibatch part = take(experience, states, policy_.device());
    const PolicyTermsOf terms = policy_.evaluate_actions(part.input, part.decisions);
    log_prob.push_back(terms.log_prob.to(torch::kCPU));
    selection.push_back(terms.selection_log_prob.to(torch::kCPU));
  }
  targets.old_log_prob = torch::cat(log_prob);
  targets.old_selection = torch::cat(selection);
  if (terms_.prior != nullptr) result.prior_coef = terms_.prior->coef(iteration);
  if (result.prior_coef == 0.0) return;
  const Minibatch all = take(experience, everything, policy_.device());
  const double sum = terms_.prior->pull(all, result.prior_coef, targets);
  const torch::Tensor sums =
      torch::tensor({sum, static_cast<double>(targets.advantages.numel())}, torch::kDouble);
  communicator_.all_reduce(sums);
  result.prior_kl = sums[0].item<double>() / std::max(1.0, sums[1].item<double>());
}

}  // namespace traffic::train
