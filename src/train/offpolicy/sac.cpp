#include "offpolicy/sac.h"

#include <torch/utils.h>

#include <cmath>

namespace traffic::train::offpolicy {
namespace {

constexpr double kFirstTemperature = 0.1;

std::vector<NetworkSpec> sac_networks(const OffPolicy& settings, const Spaces& spaces) {
  const model::MlpShape shape = policy_shape(settings, spaces).shape;
  return {{.name = "actor", .shape = shape, .learning_rate_key = "offpolicy.actor_learning_rate"},
          {.name = "critic1", .shape = shape, .learning_rate_key = "offpolicy.learning_rate"},
          {.name = "critic2", .shape = shape, .learning_rate_key = "offpolicy.learning_rate"}};
}

}  // namespace

Sac::Sac(const OffPolicy& settings, const Spaces& spaces, std::uint64_t seed,
         comm::Communicator& communicator)
    : MlpLearner(settings, sac_networks(settings, spaces), seed, communicator),
      communicator_(communicator),
      target_entropy_(settings.target_entropy * std::log(static_cast<double>(spaces.num_actions))),
      log_temperature_(std::log(kFirstTemperature)) {}

torch::Tensor Sac::critic_loss(const Batch& batch, double denominator) {
  torch::Tensor targets;
  {
    const torch::NoGradGuard no_grad;
    const rl::TwinQ next{.first = target(kFirst)->forward(batch.next_obs),
                         .second = target(kSecond)->forward(batch.next_obs)};
    targets = rl::n_step_targets(
        batch.steps,
        rl::soft_values(online(kActor)->forward(batch.next_obs), next, std::exp(log_temperature_)));
  }
  const torch::Tensor first = online(kFirst)->forward(batch.obs);
  const torch::Tensor second = online(kSecond)->forward(batch.obs);
  return rl::value_loss(rl::values_of(first, batch.actions), targets, denominator) +
         rl::value_loss(rl::values_of(second, batch.actions), targets, denominator);
}

Figures Sac::update(const Batch& batch, const UpdateContext& context) {
  torch::Tensor critics;
  rl::SacActorLoss actor;
  std::vector<double> rates(3, settings_.learning_rate * context.learning_rate_factor);
  rates[kActor] = settings_.actor_learning_rate * context.learning_rate_factor;
  const auto norms = networks_.step(rates, settings_.clip_norm, [&] {
    critics = critic_loss(batch, context.total_batch);
    critics.backward();
    rl::TwinQ q;
    {
      const torch::NoGradGuard no_grad;
      q = {.first = online(kFirst)->forward(batch.obs),
           .second = online(kSecond)->forward(batch.obs)};
    }
    actor = rl::sac_actor_loss(online(kActor)->forward(batch.obs), q, std::exp(log_temperature_),
                               context.total_batch);
    actor.loss.backward();
  });
  const double entropy_sum = actor.entropy_sum.item<double>();
  adapt_temperature(entropy_sum, context);
  update_targets(context.update);
  return {{"loss", critics.item<double>() * context.total_batch},
          {"actor_loss", actor.loss.item<double>() * context.total_batch},
          {"entropy", entropy_sum},
          {"grad_norm", norms[kFirst]}};
}

/// Moves the temperature so that the entropy approaches target_entropy_. Uses the mean entropy over
/// the batches of all ranks, so that the temperature is the same on all ranks.
void Sac::adapt_temperature(double entropy_sum, const UpdateContext& context) {
  const double entropy = communicator_.all_reduce_scalar(entropy_sum) / context.total_batch;
  if (!std::isfinite(entropy)) return;  // the optimisers skip this update as well
  log_temperature_ -=
      settings_.temperature_learning_rate * rl::temperature_gradient(entropy, target_entropy_);
}

void Sac::save_to(checkpoint::Snapshot& snapshot) const {
  Learner::save_to(snapshot);
  snapshot.put_real("sac/log_temperature", log_temperature_);
}

void Sac::restore_from(const checkpoint::Snapshot& snapshot) {
  Learner::restore_from(snapshot);
  log_temperature_ = snapshot.real("sac/log_temperature");
}

}  // namespace traffic::train::offpolicy
