#include "ppo/constraint.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "ppo/minibatches.h"
#include "ppo/value_fit.h"
#include "run/snapshot_parts.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"

namespace traffic::train {
namespace {

model::CostCritic make_critic(const config::Config& config, std::int64_t width,
                              torch::Device device) {
  model::CostCritic critic(config.lagrange, width);
  critic->reset(derive_seed(static_cast<std::uint64_t>(config.run.seed), {kCostCriticStream}));
  critic->to(device);
  return critic;
}

comm::NamedTensors parameters_of(const model::CostCritic& critic) {
  comm::NamedTensors all;
  for (const auto& item : critic->named_parameters()) {
    all.emplace_back("cost_critic." + item.key(), item.value());
  }
  return all;
}

}  // namespace

Constraint::Constraint(const config::Config& config, std::int64_t width, std::int64_t conflicts,
                       comm::Communicator& communicator)
    : ppo_(config.ppo),
      lagrange_(config.lagrange),
      seed_(static_cast<std::uint64_t>(config.run.seed)),
      conflicts_(conflicts),
      communicator_(communicator),
      multiplier_({.cost_limit = lagrange_.cost_limit,
                   .lagrange_lr = lagrange_.learning_rate,
                   .lagrange_init = lagrange_.initial,
                   .lagrange_max = lagrange_.max}),
      critic_(make_critic(config, width, communicator.device())),
      parameters_(parameters_of(critic_)),
      gradients_(parameters_, communicator),
      optimiser_({.name = "cost critic",
                  .learning_rate_key = "lagrange.critic_learning_rate",
                  .parameters = parameters_.flat(),
                  .gradients = gradients_.flat()},
                 ppo_.clip_norm, communicator),
      scale_(conflicts) {}

void Constraint::observe(double mean_cost) {
  const bool was_at_max = is_at_max();
  multiplier_.update(mean_cost);
  if (is_at_max() && !was_at_max) {
    spdlog::warn(
        "the Lagrange multiplier is at lagrange.max = {}: a cost of {:.3f} is not brought under "
        "lagrange.cost_limit = {} at this price; raise one of the two",
        lagrange_.max, mean_cost, lagrange_.cost_limit);
  }
}

Climb Constraint::weigh(const Weighed& in) {
  fit(in);
  const torch::Tensor cost = advantages(in.experience, values_of(in.experience), ppo_.gae_lambda);
  const rl::Scale of_reward =
      rl::scale_of(moments_over_ranks(in.reward_advantages, in.experience, communicator_));
  const rl::Scale of_cost = rl::scale_of(moments_over_ranks(cost, in.experience, communicator_));
  const torch::Tensor comparable =
      (cost * (of_reward.deviation / of_cost.deviation)).to(in.reward_advantages.scalar_type());
  return {.advantages = rl::constrained_advantages(in.reward_advantages, comparable, multiplier()),
          .own_cost = in.experience.own_cost / (1.0 + multiplier())};
}

Expected Constraint::values_of(const Experience& experience) {
  const torch::NoGradGuard no_grad;
  const auto compute = [&](const torch::Tensor& conflicts) {
    const auto rows = conflicts.flatten(0, 1).to(communicator_.device());
    return scale_.restore(critic_->forward(rows).to(torch::kCPU).view({-1, conflicts_}));
  };
  return {.states = compute(experience.conflict), .final = compute(experience.final_conflict)};
}

torch::Tensor Constraint::advantages(const Experience& experience, const Expected& values,
                                     double gae_lambda) const {
  return advantages_of(experience, experience.costs, values, ppo_.gamma, gae_lambda);
}

void Constraint::fit(const Weighed& in) {
  // Without a critic to bootstrap from, the returns are those of whole trajectories.
  const Expected values = values_of(in.experience);
  const torch::Tensor returns =
      advantages(in.experience, values, fitted_ ? ppo_.value_lambda : 1.0) + values.states;
  scale_.update(moments_over_ranks(returns, in.experience, communicator_));
  const torch::Tensor wanted = scale_.standardise(returns).to(torch::kFloat);
  const std::int64_t epochs = fitted_ ? lagrange_.critic_epochs
                                      : std::max(lagrange_.critic_epochs, ppo_.value_first_epochs);
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) fit_epoch(in, wanted, epoch);
  fitted_ = true;
}

void Constraint::fit_epoch(const Weighed& in, const torch::Tensor& returns, std::int64_t epoch) {
  const auto parts = split_minibatches(in.experience, in.total_states, seed_,
                                       {.stream = kCostMinibatchStream,
                                        .iteration = in.iteration,
                                        .epoch = epoch,
                                        .size = std::min(ppo_.minibatch_size, kValueMinibatch)});
  torch::Tensor sums =
      fit_pass(in.experience, returns, parts,
               {.value = [this](const torch::Tensor& rows) { return critic_->forward(rows); },
                .zero_gradients = [this] { gradients_.zero(); },
                .step =
                    [this] {
                      gradients_.check_views();
                      optimiser_.step(lagrange_.critic_learning_rate);
                    }},
               communicator_);
  communicator_.all_reduce(sums);
  critic_loss_ = sums[1].sum().item<double>() / sums[0].sum().item<double>();
}

void Constraint::save_to(checkpoint::Snapshot& snapshot) const {
  put_parameters(snapshot, parameters_.parameters());
  optimiser_.save_to(snapshot, "lagrange");
  snapshot.put_tensor("lagrange/value_scale", scale_.state());
  snapshot.put_int("lagrange/fitted", fitted_ ? 1 : 0);
  snapshot.put_real("lagrange/multiplier", multiplier_.value());
}

void Constraint::restore_from(const checkpoint::Snapshot& snapshot) {
  copy_parameters(snapshot, parameters_.parameters());
  optimiser_.restore_from(snapshot, "lagrange");
  scale_.load_state(snapshot.tensor("lagrange/value_scale", {3, conflicts_}, torch::kDouble));
  fitted_ = snapshot.integer("lagrange/fitted") != 0;
  multiplier_.set_value(std::min(snapshot.real("lagrange/multiplier"), lagrange_.max));
}

}  // namespace traffic::train
