#include "offpolicy/learner.h"

#include <torch/utils.h>

namespace traffic::train::offpolicy {

Figures Learner::learn_values(const torch::Tensor& values, const torch::Tensor& targets,
                              const UpdateContext& context) {
  networks_.zero_grad();
  const torch::Tensor loss = rl::value_loss(values, targets, context.total_batch);
  loss.backward();
  const double norm = networks_.step(0, settings_.learning_rate * context.learning_rate_factor,
                                     settings_.clip_norm);
  update_targets(context.update);
  return {{"loss", loss.item<double>() * context.total_batch},
          {"q", targets.sum().item<double>()},
          {"grad_norm", norm}};
}

void Learner::update_targets(std::int64_t update) {
  if (settings_.tau > 0.0) {
    networks_.update_targets(settings_.tau);
  } else if ((update + 1) % settings_.target_interval == 0) {
    networks_.update_targets(1.0);
  }
}

}  // namespace traffic::train::offpolicy
