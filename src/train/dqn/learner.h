/// Double Q-learning of the controller.
#pragma once

#include "dqn/row.h"
#include "offpolicy/learner.h"
#include "policy/policy.h"
#include "traffic/config/config.h"

namespace traffic::train::dqn {

class ControllerLearner final : public offpolicy::Learner {
 public:
  /// Collective. @param policy the policy whose controller learns; its advice margin decides which
  /// command a target values; outlives this
  ControllerLearner(const config::Config& config, Policy& policy, const RowLayout& layout,
                    comm::Communicator& communicator);

  /// @param batch rows of `layout`; what was decided in its action vectors
  offpolicy::Figures update(const offpolicy::Batch& batch,
                            const offpolicy::UpdateContext& context) override;

 private:
  ControllerLearner(const offpolicy::OffPolicy& settings, Policy& policy, model::Controller target,
                    const RowLayout& layout, comm::Communicator& communicator);
  [[nodiscard]] torch::Tensor next_values(const torch::Tensor& next_obs);

  Policy& policy_;
  model::Controller target_;
  RowLayout layout_;
};

}  // namespace traffic::train::dqn
