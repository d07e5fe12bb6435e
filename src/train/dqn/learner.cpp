#include "dqn/learner.h"

#include <torch/utils.h>

#include <utility>

#include "traffic/rl/q_learning.h"

namespace traffic::train::dqn {
namespace {

/// Advantages of the commands for each of N decisions, [N, commands].
torch::Tensor advantages_of(model::Controller& controller, const Rows& rows) {
  return controller->forward({.own = rows.own, .shared = rows.shared, .state = rows.state})
      .longitudinal;
}

model::Controller make_target(const config::Config& config, const model::ControllerInputs& widths,
                              torch::Device device) {
  model::Controller target(config.vehicles, widths);
  target->to(device);
  return target;
}

}  // namespace

ControllerLearner::ControllerLearner(const config::Config& config, Policy& policy,
                                     const RowLayout& layout, comm::Communicator& communicator)
    : ControllerLearner(config.extension<offpolicy::OffPolicy>(), policy,
                        make_target(config, layout.widths, policy.device()), layout, communicator) {
}

ControllerLearner::ControllerLearner(const offpolicy::OffPolicy& settings, Policy& policy,
                                     model::Controller target, const RowLayout& layout,
                                     comm::Communicator& communicator)
    : Learner(settings,
              {{.name = "controller",
                .online = policy.controller().ptr(),
                .target = target.ptr(),
                .learning_rate_key = "offpolicy.learning_rate"}},
              communicator),
      policy_(policy),
      target_(std::move(target)),
      layout_(layout) {}

torch::Tensor ControllerLearner::next_values(const torch::Tensor& next_obs) {
  const torch::NoGradGuard no_grad;
  const Rows rows = take_apart(layout_, next_obs);
  const torch::Tensor worth = policy_.leaning(advantages_of(policy_.controller(), rows), rows.own);
  return rl::joint_q(target_->value(rows.conflict), {.advantages = advantages_of(target_, rows),
                                                     .actions = worth.argmax(1),
                                                     .state = rows.state});
}

offpolicy::Figures ControllerLearner::update(const offpolicy::Batch& batch,
                                             const offpolicy::UpdateContext& context) {
  const torch::Tensor targets = rl::n_step_targets(batch.steps, next_values(batch.next_obs));
  const Rows rows = take_apart(layout_, batch.obs);
  const torch::Tensor chosen =
      batch.action_vectors.index({rows.state, rows.place}).to(torch::kLong);
  const torch::Tensor values = rl::joint_q(policy_.controller()->value(rows.conflict),
                                           {.advantages = advantages_of(policy_.controller(), rows),
                                            .actions = chosen,
                                            .state = rows.state});
  return learn_values(values, targets, context);
}

}  // namespace traffic::train::dqn
