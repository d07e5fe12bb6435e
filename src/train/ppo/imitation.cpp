// The part of Learner (learner.h) that imitates a scripted controller.
#include <algorithm>
#include <array>

#include "optim/minibatch_step.h"
#include "policy/gather.h"
#include "ppo/epochs.h"
#include "ppo/learner.h"
#include "ppo/minibatches.h"
#include "ppo/scenario_weights.h"
#include "traffic/core/random_streams.h"
#include "traffic/rl/schedule.h"

namespace traffic::train {
namespace {

/// The F1 score of two sets of commands; 1 if both are empty.
/// @param counts [3] numbers of commands: equal in both sets, all of one set, all of the other set
double f1_of(const torch::Tensor& counts) {
  const double either = counts[1].item<double>() + counts[2].item<double>();
  return either > 0.0 ? 2.0 * counts[0].item<double>() / either : 1.0;
}

}  // namespace

torch::Tensor Learner::imitation_loss(const Experience& experience, const torch::Tensor& weights,
                                      const torch::Tensor& states) {
  const torch::Device device = policy_.device();
  const Minibatch part = take(experience, states, device);
  const PolicyTermsOf terms = policy_.evaluate_actions(part.input, part.decisions);
  const torch::Tensor decides = experience.selection_decides.index_select(0, states).to(device);
  const torch::Tensor selections =
      torch::where(decides, terms.selection_log_prob, torch::zeros_like(terms.selection_log_prob));
  const torch::Tensor of_states = gather(weights, states).to(device);
  const torch::Tensor of_decisions =
      gather(weights, gather(experience.decision_state, part.decision_of)).to(device);
  return -((of_decisions * terms.log_prob).sum() + (of_states * selections).sum());
}

void Learner::measure_agreement(const Experience& experience, UpdateResult& result) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor scenario = scenario_of_states(experience);
  // Columns: equal commands of script and policy, commands of the script, commands of the policy.
  torch::Tensor sums = torch::zeros({scenarios_, 3}, torch::kDouble);
  for (const torch::Tensor& states : torch::arange(experience.num_states()).split(kStatesAtOnce)) {
    const Minibatch part = take(experience, states, policy_.device());
    const torch::Tensor script = part.decisions.action.to(torch::kCPU, torch::kLong);
    const torch::Tensor greedy = policy_.greedy_actions(part.input, part.decisions.row);
    const torch::Tensor both = (script == greedy) & (script != kNoCommand);
    const torch::Tensor counted =
        torch::stack({both, script != kNoCommand, greedy != kNoCommand}, 1).to(torch::kDouble);
    sums.index_add_(0, gather(scenario, gather(experience.decision_state, part.decision_of)),
                    counted);
  }
  communicator_.all_reduce(sums);
  result.imitation_agreement = f1_of(sums.sum(0));
  if (scenarios_ == 1) return;
  for (std::int64_t s = 0; s < scenarios_; ++s) {
    result.imitation_agreements.push_back(f1_of(sums[s]));
  }
}

std::optional<UpdateResult> Learner::imitate(const Experience& experience,
                                             std::int64_t total_states, std::int64_t iteration) {
  UpdateResult result;
  // The learning rate falls over the iterations of imitation. The updates by PPO have their own
  // schedule.
  const rl::LinearSchedule rate{.start = ppo_.learning_rate, .end = ppo_.final_learning_rate};
  const auto iterations = std::max<std::int64_t>(1, imitation_iterations_);
  result.learning_rate = rate.at(static_cast<double>(iteration) / static_cast<double>(iterations));
  measure_agreement(experience, result);
  fit_value(experience, total_states, iteration, result);
  const torch::Tensor weights =
      scenario_weights(experience, commands_of_states(experience), scenarios_, communicator_);
  std::array steps{
      OptimiserStep{.optimiser = policy_optimiser_, .learning_rate = result.learning_rate}};
  torch::Tensor sums = torch::zeros({2}, torch::kDouble);  // loss and decisions of the last epoch
  for (std::int64_t epoch = 0; epoch < ppo_.num_epochs; ++epoch) {
    if (is_given_up(communicator_)) return std::nullopt;
    sums.zero_();
    for (const torch::Tensor& states :
         split_minibatches(experience.global_state, total_states, seed_,
                           {.stream = kImitationStream,
                           .iteration = iteration,
                           .epoch = epoch,
                           .size = std::min(ppo_.minibatch_size, kStatesAtOnce)})) {
      minibatch_step(gradients_, steps, ppo_.clip_norm, [&] {
        torch::Tensor of_part = torch::zeros({2}, torch::kDouble);
        of_part[1] = count_terms(experience, {states})[0][kDecisionTerms];
        torch::Tensor count = of_part[1].clone();
        communicator_.all_reduce(count);
        const torch::Tensor loss = imitation_loss(experience, weights, states);
        (loss / count.clamp_min(1.0).item<double>()).backward();
        of_part[0] = loss.detach().to(torch::kCPU, torch::kDouble);
        sums += of_part;
        return true;
      });
      result.grad_norm += steps.front().norm;
      ++result.steps;
    }
    ++result.epochs;
  }
  communicator_.all_reduce(sums);
  result.imitation_loss = sums[0].item<double>() / std::max(1.0, sums[1].item<double>());
  result.grad_norm /= static_cast<double>(std::max<std::int64_t>(1, result.steps));
  return result;
}

}  // namespace traffic::train
