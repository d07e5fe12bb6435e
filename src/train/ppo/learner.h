/// The learner of the vehicles' policy. An update by PPO fits the value, computes advantages, and
/// makes clipped steps of the policy. In the first iterations, the policy may imitate a script
/// instead.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "optim/slice_optimiser.h"
#include "policy/policy.h"
#include "ppo/constraint.h"
#include "ppo/critic.h"
#include "ppo/minibatches.h"
#include "ppo/prior.h"
#include "ppo/targets.h"
#include "rollouts/experience.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/config/config.h"
#include "traffic/rl/ppo_loss.h"
#include "traffic/rl/ppo_statistics.h"

namespace traffic::train {

/// Result of an update, equal on all ranks.
struct UpdateResult {
  rl::PpoStatistics statistics;  ///< statistics of the last epoch
  double grad_norm = 0.0;        ///< policy's gradient norm before clipping, mean over the steps
  double learning_rate = 0.0;
  double ent_coef = 0.0;
  double mean_return = 0.0;         ///< mean over states and conflicts
  double explained_variance = 0.0;  ///< how well the values explain the returns, before the fit
  double imitation_loss = 0.0;      ///< mean per decision in nats; 0 after update()
  /// Agreement of the greedy policy with the script before this update, as F1 score: twice the
  /// number of equal commands, divided by the sum of the numbers of commands of both.
  double imitation_agreement = 0.0;
  /// The F1 score in each scenario; empty if there is only one scenario.
  std::vector<double> imitation_agreements{};
  double prior_coef = 0.0;  ///< weight of the penalty that keeps the policy near the prior
  double prior_kl = 0.0;    ///< divergence from the prior before the update, nats per decision
  std::int64_t epochs = 0;  ///< number of epochs that were begun
  std::int64_t steps = 0;   ///< number of optimiser steps of the policy
};

class Learner {
 public:
  /// Optional terms of the objective. A term that is null is left out.
  struct Terms {
    Constraint* constraint = nullptr;  ///< weighs cost against reward, in phase 3
    Prior* prior = nullptr;            ///< keeps the policy near the imitated one
  };
  /// Collective.
  Learner(const config::Config& config, Policy& policy, comm::Communicator& communicator,
          std::int64_t conflicts, const Terms& terms);
  Learner(const config::Config& config, Policy& policy, comm::Communicator& communicator,
          std::int64_t conflicts)
      : Learner(config, policy, communicator, conflicts, Terms{}) {}

  /// Updates policy and value by PPO. Except for rounding, the result does not depend on how the
  /// experience is distributed over ranks. Collective.
  /// @param experience this rank's share
  /// @param total_states number of states of all ranks
  /// @param first_iteration first iteration of PPO, where the warm-up of the learning rate begins
  /// @return nothing if the update was abandoned between two epochs because a stop was requested
  /// @throws NumericError after too many steps in a row without a finite gradient
  std::optional<UpdateResult> update(const Experience& experience, std::int64_t total_states,
                                     std::int64_t iteration, std::int64_t first_iteration = 0);

  /// Raises the probability of the decisions in the experience, which a scripted controller made.
  /// Fits the value network as update() does. Collective.
  /// @return, @throws as update()
  std::optional<UpdateResult> imitate(const Experience& experience, std::int64_t total_states,
                                      std::int64_t iteration);

  [[nodiscard]] const comm::ParameterArena& parameters() const { return parameters_; }
  [[nodiscard]] std::int64_t skipped_steps() const {
    return policy_optimiser_.skipped_steps() + critic_.skipped_steps();
  }

  /// Sets a factor on the learning rate of update().
  void set_step_factor(double factor) { step_factor_ = factor; }

  /// Loads the weights of another run, without the state of its optimisers.
  /// @throws CheckpointError if a part is missing or does not fit
  void start_from(const checkpoint::Snapshot& snapshot);
  void save_to(checkpoint::Snapshot& snapshot) const;
  /// @throws CheckpointError if a part is missing or does not fit
  void restore_from(const checkpoint::Snapshot& snapshot);

 private:
  /// Maximum number of states that are evaluated at once, to limit the memory this takes.
  static constexpr std::int64_t kStatesAtOnce = 256;

  /// Fits the value to the returns. The first call trains the value from scratch.
  void fit_value(const Experience& experience, std::int64_t total_states, std::int64_t iteration,
                 UpdateResult& result);
  /// Computes the terms of the loss that stay the same during the whole update.
  PpoTargets make_targets(const Experience& experience, std::int64_t total_states,
                          std::int64_t iteration, UpdateResult& result);
  /// Adds the advantages of decisions and selections.
  void add_policy_targets(const Experience& experience, const PolicyObjective& objective,
                          PpoTargets& targets);
  /// Adds the policy's log-probabilities before the update, and subtracts the penalty of the prior
  /// from the advantages.
  void add_old_policy(const Experience& experience, std::int64_t iteration, PpoTargets& targets,
                      UpdateResult& result);
  /// Adapts the policy's learning rate for the next update to the KL divergence of this update.
  void follow_kl(double kl);
  /// The PPO loss of some states of the experience.
  /// @param states int64 indices of these states
  rl::PpoLoss loss_of(const Experience& experience, const PpoTargets& targets,
                      const torch::Tensor& states, const rl::PpoDenominators& denominators);
  /// Negative log-likelihood of the decisions in these states, summed.
  /// @param weights [S] weights of the decisions in each state of the experience
  torch::Tensor imitation_loss(const Experience& experience, const torch::Tensor& weights,
                               const torch::Tensor& states);
  /// Sets UpdateResult::imitation_agreement and imitation_agreements. Collective.
  void measure_agreement(const Experience& experience, UpdateResult& result);
  [[nodiscard]] ParameterSlice slice(const char* name, std::int64_t begin, std::int64_t end) const;

  config::Ppo ppo_;
  std::int64_t iterations_;            ///< iterations of the whole training
  std::int64_t imitation_iterations_;  ///< maximum number of iterations of imitation
  std::uint64_t seed_;
  std::int64_t scenarios_;
  std::int64_t conflicts_;
  Policy& policy_;
  comm::Communicator& communicator_;
  Terms terms_;
  double step_factor_ = 1.0;
  double kl_factor_ = 1.0;  ///< factor on the policy's learning rate, adapted to ppo.desired_kl
  double ent_coef_ = 0.0;   ///< entropy coefficient of the current update
  comm::ParameterArena parameters_;
  comm::GradientArena gradients_;
  SliceOptimiser policy_optimiser_;
  Critic critic_;  ///< predicts rewards; its network is the value of the policy's controller
};

}  // namespace traffic::train
