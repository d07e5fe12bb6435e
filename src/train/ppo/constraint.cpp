#include "ppo/constraint.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "run/snapshot_parts.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"

namespace traffic::train {
namespace {

model::CostCritic make_network(const config::Config& config, std::int64_t width,
                               torch::Device device) {
  model::CostCritic network(config.lagrange, width);
  network->reset(derive_seed(static_cast<std::uint64_t>(config.run.seed), {kCostCriticStream}));
  network->to(device);
  return network;
}

comm::NamedTensors parameters_of(const model::CostCritic& network) {
  comm::NamedTensors all;
  for (const auto& item : network->named_parameters()) {
    all.emplace_back("cost_critic." + item.key(), item.value());
  }
  return all;
}

}  // namespace

Constraint::Constraint(const config::Config& config, std::int64_t width, std::int64_t conflicts,
                       comm::Communicator& communicator)
    : ppo_(config.ppo),
      lagrange_(config.lagrange),
      communicator_(communicator),
      multiplier_({.cost_limit = lagrange_.cost_limit,
                   .lagrange_lr = lagrange_.learning_rate,
                   .lagrange_init = lagrange_.initial,
                   .lagrange_max = lagrange_.max}),
      network_(make_network(config, width, communicator.device())),
      parameters_(parameters_of(network_)),
      gradients_(parameters_, communicator),
      critic_(config,
              {.network = [this](const torch::Tensor& rows) { return network_->forward(rows); },
               .gradients = gradients_,
               .slice = {.name = "cost critic",
                         .learning_rate_key = "lagrange.critic_learning_rate",
                         .parameters = parameters_.flat(),
                         .gradients = gradients_.flat()},
               .conflicts = conflicts},
              {.signal = &Experience::costs,
               .learning_rate = lagrange_.critic_learning_rate,
               .stream = kCostMinibatchStream,
               .optimizer_entry = "lagrange",
               .scale_entry = "lagrange/value_scale",
               .fitted_entry = "lagrange/fitted"},
              communicator) {}

void Constraint::observe(double mean_cost) {
  const bool was_at_max = is_at_max();
  multiplier_.update(mean_cost);
  if (is_at_max() && !was_at_max) {
    spdlog::warn(
        "the Lagrange multiplier has reached lagrange.max = {}, but the cost of {:.3f} is still "
        "over lagrange.cost_limit = {}; raise one of these settings",
        lagrange_.max, mean_cost, lagrange_.cost_limit);
  }
}

PolicyObjective Constraint::weigh(const Weighed& in) {
  const torch::Tensor cost = learn_costs(in);
  const rl::Scale of_reward =
      rl::scale_of(moments_over_ranks(in.reward_advantages, in.experience, communicator_));
  const rl::Scale of_cost = rl::scale_of(moments_over_ranks(cost, in.experience, communicator_));
  const torch::Tensor comparable =
      (cost * (of_reward.deviation / of_cost.deviation)).to(in.reward_advantages.scalar_type());
  return {.advantages = rl::constrained_advantages(in.reward_advantages, comparable, multiplier()),
          .own_cost = in.experience.own_cost / (1.0 + multiplier())};
}

torch::Tensor Constraint::learn_costs(const Weighed& in) {
  // The values of an unfitted critic are useless for bootstrapping. The first estimate therefore
  // uses gae_lambda = 1, so that the returns are sums over whole trajectories.
  const bool first = !critic_.is_fitted();
  const Estimate before = critic_.estimate(in.experience, first ? 1.0 : ppo_.value_lambda);
  critic_.update_scale(in.experience, before.returns);
  const std::int64_t epochs = lagrange_.critic_epochs;
  critic_.fit(in.experience, before.returns,
              {.total_states = in.total_states,
               .iteration = in.iteration,
               .epochs = first ? std::max(epochs, ppo_.value_first_epochs) : epochs});
  return critic_.estimate(in.experience, ppo_.gae_lambda).advantages;
}

void Constraint::save_to(checkpoint::Snapshot& snapshot) const {
  put_parameters(snapshot, parameters_.parameters());
  critic_.save_to(snapshot);
  snapshot.put_real("lagrange/multiplier", multiplier_.value());
}

void Constraint::restore_from(const checkpoint::Snapshot& snapshot) {
  copy_parameters(snapshot, parameters_.parameters());
  critic_.restore_from(snapshot);
  multiplier_.set_value(std::min(snapshot.real("lagrange/multiplier"), lagrange_.max));
}

}  // namespace traffic::train
