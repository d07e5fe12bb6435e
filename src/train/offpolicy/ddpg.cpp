#include "offpolicy/ddpg.h"

#include <torch/utils.h>

#include <algorithm>
#include <limits>

#include "traffic/rl/ddpg.h"

namespace traffic::train::offpolicy {
namespace {

model::MlpShape critic_shape(const OffPolicy& settings, const Spaces& spaces) {
  model::MlpShape shape = policy_shape(settings, spaces).shape;
  shape.inputs = spaces.obs_dim + spaces.num_actions;
  shape.outputs = 1;
  return shape;
}

/// Random numbers in (0, 1), in a tensor with the shape of x.
torch::Tensor uniforms_like(const torch::Tensor& x, Rng& rng) {
  torch::Tensor uniforms = torch::empty(x.sizes(), torch::kFloat);
  auto* out = uniforms.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < uniforms.numel(); ++i) {
    out[i] = std::clamp(static_cast<float>(rng.uniform()), std::numeric_limits<float>::min(),
                        1.0F - std::numeric_limits<float>::epsilon());
  }
  return uniforms.to(x.device());
}

}  // namespace

Ddpg::Ddpg(const OffPolicy& settings, const Spaces& spaces, std::uint64_t seed,
           comm::Communicator& communicator)
    : MlpLearner(settings,
                 {{.name = "actor",
                   .shape = policy_shape(settings, spaces).shape,
                   .learning_rate_key = "offpolicy.actor_learning_rate"},
                  {.name = "critic",
                   .shape = critic_shape(settings, spaces),
                   .learning_rate_key = "offpolicy.learning_rate"}},
                 seed, communicator),
      num_actions_(spaces.num_actions),
      is_soft_(settings.ddpg_action == "softmax") {}

torch::Tensor Ddpg::action_of(const torch::Tensor& logits, Rng& rng) const {
  if (is_soft_) return logits.softmax(1);
  return rl::gumbel_straight_through(logits, uniforms_like(logits, rng),
                                     settings_.gumbel_temperature);
}

torch::Tensor Ddpg::critic_loss(const Batch& batch, const UpdateContext& context) {
  torch::Tensor targets;
  {
    const torch::NoGradGuard no_grad;
    const torch::Tensor next = action_of(target(kActor)->forward(batch.next_obs), context.rng);
    targets = rl::n_step_targets(
        batch.steps, target(kCritic)->forward(torch::cat({batch.next_obs, next}, 1)).squeeze(1));
  }
  const torch::Tensor taken =
      is_soft_ ? batch.action_vectors
               : torch::one_hot(batch.actions, num_actions_).to(batch.obs.scalar_type());
  const torch::Tensor q = online(kCritic)->forward(torch::cat({batch.obs, taken}, 1));
  return rl::ddpg_critic_loss(q.squeeze(1), targets, context.total_batch);
}

/// Computes the gradients of both losses before the optimisers change the networks. The actor's
/// loss therefore uses the critic from before this update. forward_frozen() keeps the actor's loss
/// from adding gradients to the critic.
Figures Ddpg::update(const Batch& batch, const UpdateContext& context) {
  torch::Tensor critic;
  torch::Tensor q;
  std::vector<double> rates(2);
  rates[kActor] = settings_.actor_learning_rate * context.learning_rate_factor;
  rates[kCritic] = settings_.learning_rate * context.learning_rate_factor;
  const auto norms = networks_.step(rates, settings_.clip_norm, [&] {
    critic = critic_loss(batch, context);
    critic.backward();
    const torch::Tensor actions = action_of(online(kActor)->forward(batch.obs), context.rng);
    q = online(kCritic)->forward_frozen(torch::cat({batch.obs, actions}, 1)).squeeze(1);
    rl::ddpg_actor_loss(q, context.total_batch).backward();
  });
  update_targets(context.update);
  return {{"loss", critic.item<double>() * context.total_batch},
          {"q", q.sum().item<double>()},
          {"grad_norm", norms[kCritic]}};
}

}  // namespace traffic::train::offpolicy
