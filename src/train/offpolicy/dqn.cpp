#include "offpolicy/dqn.h"

#include <torch/utils.h>

namespace traffic::train::offpolicy {

Dqn::Dqn(const OffPolicy& settings, const Spaces& spaces, std::uint64_t seed,
         comm::Communicator& communicator)
    : Learner(settings,
              {{.name = "q",
                .shape = policy_shape(settings, spaces).shape,
                .learning_rate_key = "offpolicy.learning_rate"}},
              seed, communicator) {}

torch::Tensor Dqn::next_values(const torch::Tensor& next_obs) {
  const torch::NoGradGuard no_grad;
  return rl::double_q_values(rl::dueling_q(networks_.online(0)->forward(next_obs)),
                             rl::dueling_q(networks_.target(0)->forward(next_obs)));
}

Figures Dqn::update(const Batch& batch, const UpdateContext& context) {
  const torch::Tensor targets = rl::n_step_targets(batch.steps, next_values(batch.next_obs));
  networks_.zero_grad();
  const torch::Tensor q = rl::dueling_q(networks_.online(0)->forward(batch.obs));
  const torch::Tensor loss = rl::q_loss(q, batch.actions, targets, context.total_batch);
  loss.backward();
  const double norm = networks_.step(0, settings_.learning_rate * context.learning_rate_factor,
                                     settings_.clip_norm);
  update_targets(context.update);
  return {{"loss", loss.item<double>() * context.total_batch},
          {"q", targets.sum().item<double>()},
          {"grad_norm", norm}};
}

}  // namespace traffic::train::offpolicy
