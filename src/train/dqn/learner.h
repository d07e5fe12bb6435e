/// Double Q-learning of the controller.
#pragma once

#include "dqn/row.h"
#include "offpolicy/learner.h"
#include "policy/policy.h"
#include "traffic/config/config.h"

namespace traffic::train::dqn {

class ControllerLearner final : public offpolicy::Learner {
 public:
  /// Collective. @param policy whose controller learns; outlives this
  ControllerLearner(const config::Config& config, Policy& policy, const RowLayout& layout,
                    comm::Communicator& communicator);

  /// What is learned is the value of acting so (Policy::lean_on_advice).
  void lean_on_advice(double margin) { advice_margin_ = margin; }

  /// @param batch rows of `layout`; what was decided in its action vectors
  offpolicy::Figures update(const offpolicy::Batch& batch,
                            const offpolicy::UpdateContext& context) override;

 private:
  ControllerLearner(const offpolicy::OffPolicy& settings, model::Controller online,
                    model::Controller target, const RowLayout& layout,
                    comm::Communicator& communicator);
  [[nodiscard]] torch::Tensor next_values(const torch::Tensor& next_obs);

  model::Controller online_;
  model::Controller target_;
  RowLayout layout_;
  double advice_margin_ = 0.0;
};

}  // namespace traffic::train::dqn
