#include "ppo/loss_terms.h"

#include "policy/gather.h"

namespace traffic::train {

LossTerms take_loss_terms(const Experience& experience, const PpoTargets& targets,
                          const Minibatch& minibatch, torch::Device device) {
  const auto of_states = [&](const torch::Tensor& x) {
    return gather(x, minibatch.states).to(device);
  };
  const auto of_decisions = [&](const torch::Tensor& x) {
    return gather(x, minibatch.decision_of).to(device);
  };
  return {.old_log_prob = of_decisions(targets.old_log_prob),
          .advantages = of_decisions(targets.advantages),
          .selection_decides = of_states(experience.selection_decides),
          .old_selection = of_states(targets.old_selection),
          .selection = of_states(targets.selection),
          .conflict = of_states(experience.conflict),
          .exists = of_states(experience.exists),
          .old_values = of_states(targets.old_values),
          .returns = of_states(targets.returns)};
}

rl::PpoLossInputs loss_inputs(Policy& policy, const PolicyInput& input, const Decisions& decisions,
                              const LossTerms& terms) {
  const PolicyTermsOf now = policy.evaluate_actions(input, decisions);
  return {.decisions = {.log_prob = now.log_prob,
                        .old_log_prob = terms.old_log_prob,
                        .advantages = terms.advantages,
                        .entropy = now.entropy},
          .selections = {.log_prob = now.selection_log_prob,
                         .old_log_prob = terms.old_selection,
                         .advantages = terms.selection,
                         .entropy = now.selection_entropy,
                         .mask = terms.selection_decides},
          .values = {.values = policy.value(terms.conflict.flatten(0, 1)).view_as(terms.returns),
                     .old_values = terms.old_values,
                     .returns = terms.returns,
                     .mask = terms.exists}};
}

}  // namespace traffic::train
