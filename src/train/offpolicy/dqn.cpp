#include "offpolicy/dqn.h"

#include <torch/utils.h>

namespace traffic::train::offpolicy {

Dqn::Dqn(const OffPolicy& settings, const Spaces& spaces, std::uint64_t seed,
         comm::Communicator& communicator)
    : MlpLearner(settings,
                 {{.name = "q",
                   .shape = policy_shape(settings, spaces).shape,
                   .learning_rate_key = "offpolicy.learning_rate"}},
                 seed, communicator) {}

torch::Tensor Dqn::next_values(const torch::Tensor& next_obs) {
  const torch::NoGradGuard no_grad;
  return rl::double_q_values(rl::dueling_q(online(0)->forward(next_obs)),
                             rl::dueling_q(target(0)->forward(next_obs)));
}

Figures Dqn::update(const Batch& batch, const UpdateContext& context) {
  const torch::Tensor targets = rl::n_step_targets(batch.steps, next_values(batch.next_obs));
  const torch::Tensor q = rl::dueling_q(online(0)->forward(batch.obs));
  return learn_values(rl::values_of(q, batch.actions), targets, context);
}

}  // namespace traffic::train::offpolicy
