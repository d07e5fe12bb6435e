// The part of Learner that learns what a scripted controller did.
#include <algorithm>

#include "policy/gather.h"
#include "ppo/learner.h"
#include "ppo/minibatches.h"
#include "ppo/scenario_weights.h"
#include "traffic/comm/gradient_reducer.h"
#include "traffic/core/random_streams.h"
#include "traffic/rl/schedule.h"

namespace traffic::train {
namespace {

constexpr std::int64_t kNoCommand = 0;  // "none" is the first of the commands

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

double Learner::agreement(const Experience& experience) {
  const torch::NoGradGuard no_grad;
  torch::Tensor sums = torch::zeros({3}, torch::kDouble);  // both command the same, either commands
  for (const torch::Tensor& states : torch::arange(experience.num_states()).split(kStatesAtOnce)) {
    const Minibatch part = take(experience, states, policy_.device());
    const torch::Tensor wanted = part.decisions.action.to(torch::kCPU, torch::kLong);
    const torch::Tensor greedy = policy_.greedy_actions(part.input, part.decisions.row);
    const torch::Tensor both = (wanted == greedy) & (wanted != kNoCommand);
    sums += torch::stack({both.sum(), (wanted != kNoCommand).sum(), (greedy != kNoCommand).sum()});
  }
  communicator_.all_reduce(sums);
  const double either = sums[1].item<double>() + sums[2].item<double>();
  return either > 0.0 ? 2.0 * sums[0].item<double>() / either : 1.0;
}

std::optional<UpdateResult> Learner::imitate(const Experience& experience,
                                             std::int64_t total_states, std::int64_t iteration) {
  UpdateResult result;
  // PPO begins again with the whole rate.
  const rl::LinearSchedule rate{.start = ppo_.learning_rate, .end = ppo_.final_learning_rate};
  const auto iterations = std::max<std::int64_t>(1, ppo_.imitation_iterations);
  result.learning_rate = rate.at(static_cast<double>(iteration) / static_cast<double>(iterations));
  result.imitation_agreement = agreement(experience);
  fit_value(experience, total_states, iteration, result);
  const torch::Tensor weights = scenario_weights(experience, scenarios_, communicator_);
  torch::Tensor sums = torch::zeros({2}, torch::kDouble);  // loss, decisions of the last pass
  for (std::int64_t epoch = 0; epoch < ppo_.num_epochs; ++epoch) {
    if (is_given_up()) return std::nullopt;
    sums.zero_();
    for (const torch::Tensor& states :
         split_minibatches(experience.global_state, total_states, seed_,
                           {.stream = kImitationStream,
                           .iteration = iteration,
                           .epoch = epoch,
                           .size = std::min(ppo_.minibatch_size, kStatesAtOnce)})) {
      gradients_.zero();
      torch::Tensor of_part = torch::zeros({2}, torch::kDouble);
      of_part[1] = count_terms(experience, {states})[0][kDecisionTerms];
      torch::Tensor count = of_part[1].clone();
      communicator_.all_reduce(count);
      const torch::Tensor loss = imitation_loss(experience, weights, states);
      (loss / count.clamp_min(1.0).item<double>()).backward();
      of_part[0] = loss.detach().to(torch::kCPU, torch::kDouble);
      sums += of_part;
      gradients_.check_views();
      if (const auto norm = policy_optimiser_.reduce()) {
        policy_optimiser_.step(result.learning_rate, comm::clip_factor(*norm, ppo_.clip_norm));
        result.grad_norm += *norm;
      }
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
