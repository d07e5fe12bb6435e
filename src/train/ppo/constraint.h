/// The constraint of phase 3, which limits the cost of unsafe behaviour. It consists of a critic
/// that predicts costs, and a Lagrange multiplier that weighs cost against reward. In each
/// iteration of PPO, the agent of vehicles calls observe(), which updates the multiplier. Its
/// learner then calls weigh().
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "ppo/critic.h"
#include "rollouts/experience.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/config/config.h"
#include "traffic/model/cost_critic.h"
#include "traffic/rl/lagrangian.h"

namespace traffic::train {

/// The objective that the policy maximises: advantages minus the costs charged to its decisions.
struct PolicyObjective {
  torch::Tensor advantages;  ///< [S, C] in units of the reward
  torch::Tensor own_cost;    ///< [D] in units of the reward
};

/// The multiplier and the critic of the costs.
class Constraint {
 public:
  /// Collective. @param width number of inputs that the critic reads for each conflict
  Constraint(const config::Config& config, std::int64_t width, std::int64_t conflicts,
             comm::Communicator& communicator);

  /// Updates the multiplier. @param mean_cost mean cost of a control step, equal on all ranks
  /// @throws NumericError if the cost is not finite
  void observe(double mean_cost);

  /// Inputs of weigh().
  struct Weighed {
    const Experience& experience;
    const torch::Tensor& reward_advantages;  ///< [S, C] in units of the reward
    std::int64_t total_states = 0;           ///< number of states of all ranks
    std::int64_t iteration = 0;
  };
  /// Fits the critic to the costs and computes the objective of the policy. With the advantages A_r
  /// of the reward, the advantages A_c of the cost and the multiplier lambda, its advantages are
  /// (A_r - lambda A_c) / (1 + lambda). A_c is first scaled to the standard deviation of A_r in
  /// each conflict, so that lambda has no unit. Collective.
  PolicyObjective weigh(const Weighed& in);

  [[nodiscard]] double multiplier() const { return multiplier_.value(); }
  /// Whether the multiplier has reached lagrange.max.
  [[nodiscard]] bool is_at_max() const { return multiplier_.is_at_max(); }
  /// Mean squared error of the critic in its last epoch, in standardised units.
  [[nodiscard]] double critic_loss() const { return critic_.loss(); }
  [[nodiscard]] std::int64_t skipped_steps() const { return critic_.skipped_steps(); }
  [[nodiscard]] const comm::ParameterArena& parameters() const { return parameters_; }

  void save_to(checkpoint::Snapshot& snapshot) const;
  /// @throws CheckpointError if a part is missing or does not fit
  void restore_from(const checkpoint::Snapshot& snapshot);

 private:
  /// Fits the critic to the costs. @return advantages of the costs, [S, C] in units of the cost
  torch::Tensor learn_costs(const Weighed& in);

  config::Ppo ppo_;
  config::Lagrange lagrange_;
  comm::Communicator& communicator_;
  rl::LagrangeMultiplier multiplier_;
  model::CostCritic network_;
  comm::ParameterArena parameters_;
  comm::GradientArena gradients_;
  Critic critic_;
};

}  // namespace traffic::train
