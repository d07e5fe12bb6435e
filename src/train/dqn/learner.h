/// Computes the update of double Q-learning for the controller of vehicles.
#pragma once

#include "dqn/row.h"
#include "offpolicy/learner.h"
#include "policy/policy.h"
#include "traffic/config/config.h"

namespace traffic::train::dqn {

/// Trains the controller of a policy on batches of a replay.
class ControllerLearner final : public offpolicy::Learner {
 public:
  /// Collective.
  /// @param policy the policy whose controller learns; it must outlive this object. The targets
  ///   contain the values of the commands that this policy would choose in the next state, with its
  ///   advice margin (a bonus on the value of the command that the advisor gives)
  ControllerLearner(const config::Config& config, Policy& policy, const RowLayout& layout,
                    comm::Communicator& communicator);

  /// @param batch observations are rows of the layout; action vectors contain the index of the
  ///   command of each place
  offpolicy::Figures update(const offpolicy::Batch& batch,
                            const offpolicy::UpdateContext& context) override;

 private:
  ControllerLearner(const offpolicy::OffPolicy& settings, Policy& policy, model::Controller target,
                    const RowLayout& layout, comm::Communicator& communicator);
  /// [B] values that the target network gives to the commands that the policy would choose in the
  /// next state.
  [[nodiscard]] torch::Tensor next_values(const torch::Tensor& next_obs);

  Policy& policy_;
  model::Controller target_;
  RowLayout layout_;
};

}  // namespace traffic::train::dqn
