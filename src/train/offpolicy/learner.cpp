#include "offpolicy/learner.h"

#include <torch/utils.h>

namespace traffic::train::offpolicy {

Figures Learner::learn_values(const torch::Tensor& values, const torch::Tensor& targets,
                              const UpdateContext& context) {
  const torch::Tensor loss = rl::value_loss(values, targets, context.total_batch);
  const double norm = networks_
                          .step({settings_.learning_rate * context.learning_rate_factor},
                                settings_.clip_norm, [&] { loss.backward(); })
                          .front();
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
