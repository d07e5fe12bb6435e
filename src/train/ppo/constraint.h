/// The constraint of phase 3: the cost of behaviour, a critic that predicts it, and its price. In
/// an iteration, observe() moves the price and weigh() puts cost beside reward.
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

/// What the policy is to make more of.
struct PolicyObjective {
  torch::Tensor advantages;  ///< [S, C] in units of the reward
  torch::Tensor own_cost;    ///< [D] likewise
};

class Constraint {
 public:
  /// Collective. @param width columns of a conflict
  Constraint(const config::Config& config, std::int64_t width, std::int64_t conflicts,
             comm::Communicator& communicator);

  /// Moves the multiplier; the same cost on all ranks. @throws NumericError if it is not finite
  void observe(double mean_cost);

  struct Weighed {
    const Experience& experience;
    const torch::Tensor& reward_advantages;  ///< [S, C] in units of the reward
    std::int64_t total_states = 0;           ///< of all ranks
    std::int64_t iteration = 0;
  };
  /// Collective. Fits the critic to the costs, then puts their advantages beside those of the
  /// reward: (A_r - lambda A_c) / (1 + lambda), with A_c scaled to the deviation of A_r in each
  /// conflict, so that lambda has no unit.
  PolicyObjective weigh(const Weighed& in);

  [[nodiscard]] double multiplier() const { return multiplier_.value(); }
  [[nodiscard]] bool is_at_max() const { return multiplier_.is_at_max(); }
  /// Of the last passes, in standardised units.
  [[nodiscard]] double critic_loss() const { return critic_.loss(); }
  [[nodiscard]] std::int64_t skipped_steps() const { return critic_.skipped_steps(); }
  [[nodiscard]] const comm::ParameterArena& parameters() const { return parameters_; }

  void save_to(checkpoint::Snapshot& snapshot) const;
  /// @throws CheckpointError if a part is missing or does not fit
  void restore_from(const checkpoint::Snapshot& snapshot);

 private:
  /// Fits the critic to the costs. @return their advantages, [S, C] in units of the cost
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
