/// A critic: the expected return of a state in each of its conflicts, of rewards or of costs.
/// Estimate first, then update the scale, then fit. The first time, estimate with a lambda of 1:
/// there is nothing to bootstrap from.
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

/// What is fitted, and to which returns.
struct CriticSettings {
  torch::Tensor Experience::*signal = &Experience::rewards;  ///< or its costs
  double learning_rate = 0.0;                                ///< of the passes of fit()
  double weight = 1.0;                                       ///< of the mean squared error in them
  std::uint64_t stream = 0;  ///< that the order of the states is drawn from
  // Names in checkpoints.
  std::string optimizer_entry;
  std::string scale_entry;
  std::string fitted_entry;
};

/// What a critic makes of an experience of S states and C conflicts.
struct Estimate {
  torch::Tensor standardised;  ///< [S, C] values as the network gives them
  torch::Tensor values;        ///< [S, C] in units of the signal, as what follows
  torch::Tensor advantages;    ///< [S, C]
  torch::Tensor returns;       ///< [S, C]
};

/// Moments of x [S, C] over all ranks, without the conflicts that a road has not. Collective.
/// @return [3, C]
torch::Tensor moments_over_ranks(const torch::Tensor& x, const Experience& experience,
                                 comm::Communicator& communicator);

class Critic {
 public:
  struct Parts {
    /// [N, conflict] -> [N] standardised values
    std::function<torch::Tensor(const torch::Tensor&)> network;
    comm::GradientArena& gradients;  ///< which the slice is a part of
    ParameterSlice slice;            ///< the network's
    std::int64_t conflicts = 1;
  };
  Critic(const config::Config& config, Parts parts, CriticSettings settings,
         comm::Communicator& communicator);

  /// Whether fit() was called before.
  [[nodiscard]] bool is_fitted() const { return fitted_; }
  /// @param gae_lambda of the advantages, and of the returns that follow from them
  [[nodiscard]] Estimate estimate(const Experience& experience, double gae_lambda);
  /// Takes returns [S, C] into the scale. Collective. @return their mean
  double update_scale(const Experience& experience, const torch::Tensor& returns);
  /// In the units of the network, float32.
  [[nodiscard]] torch::Tensor standardise(const torch::Tensor& returns) const;
  /// 1 - variance of what the values miss of the returns / variance of the returns. Collective.
  [[nodiscard]] double explained_variance(const Experience& experience, const Estimate& estimate);

  struct Passes {
    std::int64_t total_states = 0;  ///< of all ranks
    std::int64_t iteration = 0;     ///< for the order of the states
    std::int64_t epochs = 0;
  };
  /// Passes of the network alone towards returns [S, C], with the scale as it stands. Collective.
  void fit(const Experience& experience, const torch::Tensor& returns, const Passes& passes);
  /// Of the last pass of fit(), in standardised units.
  [[nodiscard]] double loss() const { return loss_; }

  /// For steps on gradients that somebody else has computed.
  [[nodiscard]] SliceOptimiser& optimiser() { return optimiser_; }
  [[nodiscard]] std::int64_t skipped_steps() const { return optimiser_.skipped_steps(); }

  /// Takes over what another run has learnt, but not how its optimiser stood. The parameters are
  /// left to the owner of their arena, here and below.
  /// @throws CheckpointError if a part is missing or does not fit
  void start_from(const checkpoint::Snapshot& snapshot);
  void save_to(checkpoint::Snapshot& snapshot) const;
  /// @throws CheckpointError if a part is missing or does not fit
  void restore_from(const checkpoint::Snapshot& snapshot);

 private:
  [[nodiscard]] torch::Tensor values_of(const torch::Tensor& conflicts);
  void run_epoch(const Experience& experience, const torch::Tensor& wanted,
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
