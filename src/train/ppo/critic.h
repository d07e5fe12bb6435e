/// A critic predicts the return of a state in each of its conflicts (places where streams of
/// traffic meet), for rewards or for costs. The learners of PPO use it. Call estimate() and
/// update_scale() before the first fit(). The first estimate() needs gae_lambda = 1, because the
/// values of an unfitted network are useless for bootstrapping.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "optim/slice_optimiser.h"
#include "rollouts/experience.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/config/config.h"
#include "traffic/rl/running_mean_std.h"

namespace traffic::train {

/// The signal that a critic predicts, and how fit() trains it.
struct CriticSettings {
  torch::Tensor Experience::*signal = &Experience::rewards;  ///< rewards or costs
  double learning_rate = 0.0;                                ///< learning rate of fit()
  double weight = 1.0;       ///< factor on the mean squared error in fit()
  std::uint64_t stream = 0;  ///< random stream from which the order of the states is drawn
  // Names of the entries in checkpoints.
  std::string optimizer_entry;
  std::string scale_entry;
  std::string fitted_entry;
};

/// A critic's estimates for an experience of S states and C conflicts.
struct Estimate {
  torch::Tensor standardised;  ///< [S, C] standardised values, as the network returns them
  torch::Tensor values;        ///< [S, C] in units of the signal
  torch::Tensor advantages;    ///< [S, C] in units of the signal
  torch::Tensor returns;       ///< [S, C] in units of the signal
};

/// Moments (rl::moments_of) of x [S, C] over all ranks. They leave out conflicts that do not exist
/// in the network of a state. Collective.
/// @return [3, C]
torch::Tensor moments_over_ranks(const torch::Tensor& x, const Experience& experience,
                                 comm::Communicator& communicator);

/// Estimates values and advantages, and trains the network that predicts them.
class Critic {
 public:
  /// The network and its parameters, which belong to the owner of the critic.
  struct Parts {
    /// Maps the inputs of conflicts, [N, conflict], to standardised values, [N].
    std::function<torch::Tensor(const torch::Tensor&)> network;
    comm::GradientArena& gradients;  ///< arena that contains the slice
    ParameterSlice slice;            ///< parameters of the network
    std::int64_t conflicts = 1;
  };
  Critic(const config::Config& config, Parts parts, CriticSettings settings,
         comm::Communicator& communicator);

  /// Whether fit() was called, in this run or in the run that saved the restored checkpoint.
  [[nodiscard]] bool is_fitted() const { return fitted_; }
  /// Computes values, advantages, and returns as advantages plus values.
  [[nodiscard]] Estimate estimate(const Experience& experience, double gae_lambda);
  /// Adds returns [S, C] to the running scale with which values are standardised. Collective.
  /// @return mean of the returns
  double update_scale(const Experience& experience, const torch::Tensor& returns);
  /// Converts returns to the standardised units of the network, float32.
  [[nodiscard]] torch::Tensor standardise(const torch::Tensor& returns) const;
  /// Share of the variance of the returns that the values explain: 1 - variance(returns - values) /
  /// variance(returns). Collective.
  [[nodiscard]] double explained_variance(const Experience& experience, const Estimate& estimate);

  /// How fit() passes over the experience.
  struct Passes {
    std::int64_t total_states = 0;  ///< number of states of all ranks
    std::int64_t iteration = 0;     ///< determines the order of the states
    std::int64_t epochs = 0;
  };
  /// Trains only the network of this critic, towards returns [S, C] that are standardised with the
  /// current scale. Collective.
  void fit(const Experience& experience, const torch::Tensor& returns, const Passes& passes);
  /// Mean squared error in the last epoch of fit(), in standardised units.
  [[nodiscard]] double loss() const { return loss_; }

  /// The optimiser of the network, for steps outside fit() on gradients that the caller computes.
  [[nodiscard]] SliceOptimiser& optimiser() { return optimiser_; }
  [[nodiscard]] std::int64_t skipped_steps() const { return optimiser_.skipped_steps(); }

  // The owner of the parameter arena saves and restores the parameters of the network.

  /// Loads the scale from a checkpoint of another run, without the state of the optimiser.
  /// @throws CheckpointError if a part is missing or does not fit
  void start_from(const checkpoint::Snapshot& snapshot);
  void save_to(checkpoint::Snapshot& snapshot) const;
  /// @throws CheckpointError if a part is missing or does not fit
  void restore_from(const checkpoint::Snapshot& snapshot);

 private:
  [[nodiscard]] torch::Tensor values_of(const torch::Tensor& conflicts);
  /// @param all_targets [S, C] standardised returns of the experience
  void run_epoch(const Experience& experience, const torch::Tensor& all_targets,
                 const std::vector<torch::Tensor>& minibatches);

  config::Ppo ppo_;
  std::uint64_t seed_;
  Parts parts_;
  CriticSettings settings_;
  comm::Communicator& communicator_;
  SliceOptimiser optimiser_;
  rl::RunningMeanStd scale_;
  bool fitted_ = false;
  double loss_ = 0.0;
};

}  // namespace traffic::train
