/// What a learner does with a batch of transitions; there are three.
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

/// What is seen and done.
struct Spaces {
  std::int64_t obs_dim = 1;
  std::int64_t num_actions = 2;
};

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
  /// The network that acts, and in which of its outputs the actions' scores begin.
  [[nodiscard]] virtual model::Mlp& policy() = 0;
  [[nodiscard]] virtual std::int64_t first_score() const { return 0; }
  /// Whether actions are drawn by softmax of the scores, rather than the best one taken.
  [[nodiscard]] virtual bool samples() const = 0;
  /// Numbers that are kept of an action beside its index.
  [[nodiscard]] virtual std::int64_t action_dim() const { return 0; }

  [[nodiscard]] Networks& networks() { return networks_; }
  [[nodiscard]] const Networks& networks() const { return networks_; }
  virtual void save_to(checkpoint::Snapshot& snapshot) const { networks_.save_to(snapshot); }
  virtual void restore_from(const checkpoint::Snapshot& snapshot) {
    networks_.restore_from(snapshot);
  }

 protected:
  Learner(const OffPolicy& settings, const std::vector<NetworkSpec>& networks, std::uint64_t seed,
          comm::Communicator& communicator)
      : settings_(settings), networks_(networks, seed, communicator) {}

  /// After an update: soft, or hard every offpolicy.target_interval.
  void update_targets(std::int64_t update);

  OffPolicy settings_;
  Networks networks_;
};

/// The network that acts, by settings alone: its name, its shape, where its scores begin.
struct PolicyShape {
  std::string name;
  model::MlpShape shape;
  std::int64_t first_score = 0;
};
PolicyShape policy_shape(const OffPolicy& settings, const Spaces& spaces);

/// Collective. By offpolicy.learner.
std::unique_ptr<Learner> make_learner(const OffPolicy& settings, const Spaces& spaces,
                                      std::uint64_t seed, comm::Communicator& communicator);

}  // namespace traffic::train::offpolicy
