/// The interface of a learner, which updates its networks with batches of transitions. A transition
/// is an observation, the action, the rewards that followed, and a later observation.
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

/// Transitions that this rank drew from its replay.
struct Batch {
  torch::Tensor obs;             ///< [B, obs_dim]
  torch::Tensor actions;         ///< [B] int64
  torch::Tensor action_vectors;  ///< [B, action_dim of the learner]
  /// Sums of discounted rewards up to next_obs, and discount factors of its value.
  rl::NStepReturns steps;
  torch::Tensor next_obs;  ///< [B, obs_dim]
};

/// Parameters of an update. All except the random generator are the same on all ranks.
struct UpdateContext {
  std::int64_t update = 0;            ///< number of earlier updates
  double learning_rate_factor = 1.0;  ///< factor on the learning rates of the settings
  double total_batch = 1.0;           ///< number of transitions, summed over all ranks
  Rng& rng;                           ///< generator for this rank and update
};

/// Metrics of an update, by name. "grad_norm" is the norm of the gradient of all ranks. All others
/// are sums over this rank's batch, which the caller divides by UpdateContext::total_batch.
using Figures = std::vector<std::pair<std::string, double>>;

/// A learner with its networks.
class Learner {
 public:
  virtual ~Learner() = default;

  /// Collective. Makes one update: targets, backward, reduce, clip, Adam.
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

  /// Collective. Makes the update of Q-learning with one network: loss, backward, reduce, clip,
  /// Adam, target network.
  /// @param values [B] values of the actions taken, differentiable
  /// @param targets [B]
  Figures learn_values(const torch::Tensor& values, const torch::Tensor& targets,
                       const UpdateContext& context);
  /// Moves the target networks towards the online networks, the networks in training. If
  /// offpolicy.tau > 0, they move by this share after every update. Otherwise they become equal
  /// every offpolicy.target_interval updates.
  /// @param update number of the update that was just made, from 0
  void update_targets(std::int64_t update);

  OffPolicy settings_;
  Networks networks_;
};

}  // namespace traffic::train::offpolicy
