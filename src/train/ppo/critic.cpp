#include "ppo/critic.h"

#include <algorithm>
#include <array>
#include <utility>

#include "optim/minibatch_step.h"
#include "policy/gather.h"
#include "ppo/minibatches.h"
#include "traffic/rl/advantages.h"
#include "traffic/rl/ppo_loss.h"

namespace traffic::train {

torch::Tensor moments_over_ranks(const torch::Tensor& x, const Experience& experience,
                                 comm::Communicator& communicator) {
  torch::Tensor moments = rl::moments_of(x, x.size(-1), experience.exists);
  communicator.all_reduce(moments);
  return moments;
}

Critic::Critic(const config::Config& config, Parts parts, CriticSettings settings,
               comm::Communicator& communicator)
    : ppo_(config.ppo),
      seed_(static_cast<std::uint64_t>(config.run.seed)),
      parts_(std::move(parts)),
      settings_(std::move(settings)),
      communicator_(communicator),
      optimiser_(parts_.slice, communicator),
      scale_(parts_.conflicts) {}

torch::Tensor Critic::values_of(const torch::Tensor& conflicts) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor rows = conflicts.flatten(0, 1).to(communicator_.device());
  return parts_.network(rows).to(torch::kCPU).view({-1, parts_.conflicts});
}

Estimate Critic::estimate(const Experience& experience, double gae_lambda) {
  Estimate out;
  out.standardised = values_of(experience.conflict);
  out.values = scale_.restore(out.standardised);
  const Expected expected{.states = out.values,
                          .final = scale_.restore(values_of(experience.final_conflict))};
  out.advantages =
      advantages_of(experience, experience.*settings_.signal, expected, ppo_.gamma, gae_lambda);
  out.returns = out.advantages + out.values;
  return out;
}

double Critic::update_scale(const Experience& experience, const torch::Tensor& returns) {
  const torch::Tensor moments = moments_over_ranks(returns, experience, communicator_);
  scale_.update(moments);
  return moments[rl::kSum].sum().item<double>() /
         std::max(1.0, moments[rl::kCount].sum().item<double>());
}

torch::Tensor Critic::standardise(const torch::Tensor& returns) const {
  return scale_.standardise(returns).to(torch::kFloat);
}

double Critic::explained_variance(const Experience& experience, const Estimate& estimate) {
  const auto variance = [&](const torch::Tensor& x) {
    const torch::Tensor deviation =
        rl::scale_of(moments_over_ranks(x, experience, communicator_)).deviation;
    return deviation.square().sum().item<double>();
  };
  return 1.0 - variance(estimate.returns - estimate.values) / variance(estimate.returns);
}

void Critic::fit(const Experience& experience, const torch::Tensor& returns, const Passes& passes) {
  // Losses of values are less noisy than losses of decisions, so fit() needs no larger minibatches.
  constexpr std::int64_t kMaxMinibatch = 256;
  const torch::Tensor targets = standardise(returns);
  for (std::int64_t epoch = 0; epoch < passes.epochs; ++epoch) {
    run_epoch(experience, targets,
              split_minibatches(experience.global_state, passes.total_states, seed_,
                                {.stream = settings_.stream,
                                 .iteration = passes.iteration,
                                 .epoch = epoch,
                                 .size = std::min(ppo_.minibatch_size, kMaxMinibatch)}));
  }
  fitted_ = true;
}

void Critic::run_epoch(const Experience& experience, const torch::Tensor& all_targets,
                       const std::vector<torch::Tensor>& minibatches) {
  const torch::Device device = communicator_.device();
  const auto n = static_cast<std::int64_t>(minibatches.size());
  const torch::Tensor counts =
      count_terms(experience, minibatches).select(1, kValueTerms).contiguous();
  communicator_.all_reduce(counts);
  torch::Tensor sum = torch::zeros({1}, torch::kDouble);
  std::array steps{
      OptimiserStep{.optimiser = optimiser_, .learning_rate = settings_.learning_rate}};
  for (std::int64_t i = 0; i < n; ++i) {
    const torch::Tensor& states = minibatches[static_cast<std::size_t>(i)];
    minibatch_step(parts_.gradients, steps, ppo_.clip_norm, [&] {
      const torch::Tensor rows = gather(experience.conflict, states).to(device);
      const torch::Tensor targets = gather(all_targets, states).to(device);
      const torch::Tensor now = parts_.network(rows.flatten(0, 1)).view(targets.sizes());
      const torch::Tensor loss =
          rl::value_loss_sum({.values = now,
                              .old_values = now.detach(),
                              .returns = targets,
                              .mask = gather(experience.exists, states).to(device)},
                             0.0);
      (settings_.weight * loss / std::max(1.0, counts[i].item<double>())).backward();
      sum += loss.item<double>();
      return true;
    });
  }
  communicator_.all_reduce(sum);
  loss_ = sum.item<double>() / std::max(1.0, counts.sum().item<double>());
}

void Critic::start_from(const checkpoint::Snapshot& snapshot) {
  scale_.load_state(snapshot.tensor(settings_.scale_entry, {3, parts_.conflicts}, torch::kDouble));
  fitted_ = snapshot.integer(settings_.fitted_entry) != 0;
}

void Critic::save_to(checkpoint::Snapshot& snapshot) const {
  optimiser_.save_to(snapshot, settings_.optimizer_entry);
  snapshot.put_tensor(settings_.scale_entry, scale_.state());
  snapshot.put_int(settings_.fitted_entry, fitted_ ? 1 : 0);
}

void Critic::restore_from(const checkpoint::Snapshot& snapshot) {
  start_from(snapshot);
  optimiser_.restore_from(snapshot, settings_.optimizer_entry);
}

}  // namespace traffic::train
