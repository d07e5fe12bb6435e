/// What a learner does with a batch of transitions.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "offpolicy/networks.h"
#include "offpolicy/settings.h"
#include "traffic/core/random.h"
#include "traffic/rl/q_learning.h"

namespace traffic::train::offpolicy {

/// Transitions that were drawn on this rank.
struct Batch {
  torch::Tensor obs;             ///< [B, obs_dim]
  torch::Tensor actions;         ///< [B] int64
  torch::Tensor action_vectors;  ///< [B, action_dim of the learner]
  rl::NStepReturns steps;
  torch::Tensor next_obs;  ///< [B, obs_dim]
};

/// The same on all ranks but for the generator.
struct UpdateContext {
  std::int64_t update = 0;  ///< number of updates before it
  double learning_rate_factor = 1.0;
  double total_batch = 1.0;  ///< transitions of all ranks
  Rng& rng;                  ///< of this rank and update
};

/// Sums over a batch of all ranks and figures of all, by name.
using Figures = std::vector<std::pair<std::string, double>>;

class Learner {
 public:
  virtual ~Learner() = default;

  /// Targets, backward, reduce, clip, Adam. Collective.
  /// @return sums over this rank's batch, to be divided by total_batch, and "grad_norm"
  virtual Figures update(const Batch& batch, const UpdateContext& context) = 0;
  [[nodiscard]] Networks& networks() { return networks_; }
  [[nodiscard]] const Networks& networks() const { return networks_; }
  virtual void save_to(checkpoint::Snapshot& snapshot) const { networks_.save_to(snapshot); }
  virtual void restore_from(const checkpoint::Snapshot& snapshot) {
    networks_.restore_from(snapshot);
  }

 protected:
  /// Collective.
  Learner(const OffPolicy& settings, const std::vector<TrainedNetwork>& networks,
          comm::Communicator& communicator)
      : settings_(settings), networks_(networks, communicator) {}

  /// The update of Q-learning with one network: loss, backward, reduce, clip, Adam, target.
  /// @param values [B] of what was done, differentiable
  Figures learn_values(const torch::Tensor& values, const torch::Tensor& targets,
                       const UpdateContext& context);
  /// After an update: soft, or hard every offpolicy.target_interval.
  void update_targets(std::int64_t update);

  OffPolicy settings_;
  Networks networks_;
};

}  // namespace traffic::train::offpolicy
