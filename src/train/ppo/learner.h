/// The update of phase 2: advantages, value fit, clipped policy steps on all ranks together.
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

/// What an update did; equal on all ranks.
struct UpdateResult {
  rl::PpoStatistics statistics;  ///< of the last epoch
  double grad_norm = 0.0;        ///< mean over policy steps, before clipping
  double learning_rate = 0.0;
  double ent_coef = 0.0;
  double mean_return = 0.0;         ///< of states and conflicts
  double explained_variance = 0.0;  ///< of the returns by values that had not seen them
  double imitation_loss = 0.0;      ///< of a decision, nats; 0 when nothing was imitated
  /// Before learning: twice the commands that script and greedy policy agree on over the commands
  /// of either (the F1 score).
  double imitation_agreement = 0.0;
  std::vector<double> imitation_agreements{};  ///< likewise, of each of several scenarios
  double prior_coef = 0.0;
  double prior_kl = 0.0;  ///< of the policy from the prior, nats of a decision, before the update
  std::int64_t epochs = 0;
  std::int64_t steps = 0;
};

class Learner {
 public:
  /// What takes part in the objective; any may be null.
  struct Terms {
    Constraint* constraint = nullptr;  ///< weighs cost against reward, in phase 3
    Prior* prior = nullptr;
  };
  /// Collective.
  Learner(const config::Config& config, Policy& policy, comm::Communicator& communicator,
          std::int64_t conflicts, const Terms& terms);
  Learner(const config::Config& config, Policy& policy, comm::Communicator& communicator,
          std::int64_t conflicts)
      : Learner(config, policy, communicator, conflicts, Terms{}) {}

  /// Collective. The same experience gives the same parameters up to rounding, however it is spread
  /// over ranks.
  /// @param total_states of all ranks
  /// @throws NumericError after too many policy steps in a row without a finite gradient
  /// @return nothing if it was given up between two passes because a stop is requested
  /// @param first_iteration of PPO: warm-up begins there
  std::optional<UpdateResult> update(const Experience& experience, std::int64_t total_states,
                                     std::int64_t iteration, std::int64_t first_iteration = 0);

  /// Collective. Makes what the experience holds, decided by a scripted controller, more probable;
  /// the value learns as in update().
  /// @throws NumericError as update()
  std::optional<UpdateResult> imitate(const Experience& experience, std::int64_t total_states,
                                      std::int64_t iteration);

  [[nodiscard]] const comm::ParameterArena& parameters() const { return parameters_; }
  [[nodiscard]] std::int64_t skipped_steps() const {
    return policy_optimiser_.skipped_steps() + critic_.skipped_steps();
  }

  /// On the learning rate of update().
  void set_step_factor(double factor) { step_factor_ = factor; }

  /// Takes over what another run has learnt, but not how its optimiser stood.
  /// @throws CheckpointError if a part is missing or does not fit
  void start_from(const checkpoint::Snapshot& snapshot);
  void save_to(checkpoint::Snapshot& snapshot) const;
  /// @throws CheckpointError if a part is missing or does not fit
  void restore_from(const checkpoint::Snapshot& snapshot);

 private:
  /// Of a pass, or of a step of imitation: what it needs memory for.
  static constexpr std::int64_t kStatesAtOnce = 256;

  /// Fits the value to the returns, the first time from scratch.
  void fit_value(const Experience& experience, std::int64_t total_states, std::int64_t iteration,
                 UpdateResult& result);
  PpoTargets make_targets(const Experience& experience, std::int64_t total_states,
                          std::int64_t iteration, UpdateResult& result);
  void add_policy_targets(const Experience& experience, const PolicyObjective& objective,
                          PpoTargets& targets);
  /// The policy's log-probabilities before the update, and what the prior takes off for them.
  void add_old_policy(const Experience& experience, std::int64_t iteration, PpoTargets& targets,
                      UpdateResult& result);
  /// The policy's learning rate for the next update.
  void follow_kl(double kl);
  rl::PpoLoss loss_of(const Experience& experience, const PpoTargets& targets,
                      const torch::Tensor& states, const rl::PpoDenominators& denominators);
  /// Sum over the decisions of these states.
  /// @param weights [S] of the decisions in each state of the experience
  torch::Tensor imitation_loss(const Experience& experience, const torch::Tensor& weights,
                               const torch::Tensor& states);
  /// UpdateResult::imitation_agreement and imitation_agreements. Collective.
  void measure_agreement(const Experience& experience, UpdateResult& result);
  [[nodiscard]] ParameterSlice slice(const char* name, std::int64_t begin, std::int64_t end) const;

  config::Ppo ppo_;
  std::int64_t iterations_;            ///< of the whole training
  std::int64_t imitation_iterations_;  ///< at most
  std::uint64_t seed_;
  std::int64_t scenarios_;
  std::int64_t conflicts_;
  Policy& policy_;
  comm::Communicator& communicator_;
  Terms terms_;
  double step_factor_ = 1.0;
  double kl_factor_ = 1.0;  ///< on the policy's learning rate, by ppo.desired_kl
  double ent_coef_ = 0.0;   ///< of the present update
  comm::ParameterArena parameters_;
  comm::GradientArena gradients_;
  SliceOptimiser policy_optimiser_;
  Critic critic_;  ///< of the rewards, with the value that is part of the policy's controller
};

}  // namespace traffic::train
