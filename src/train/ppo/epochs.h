/// Runs the epochs of a PPO update: an optimiser step for each minibatch. The learners of vehicles
/// and of traffic lights use it.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "optim/minibatch_step.h"
#include "ppo/minibatches.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/rl/ppo_loss.h"
#include "traffic/rl/ppo_statistics.h"

namespace traffic::train {

/// Inputs of run_epochs().
struct PpoEpochs {
  std::int64_t num_epochs = 1;
  std::int64_t accumulation_steps = 1;  ///< number of parts in which a minibatch is processed
  double target_kl = 0.0;               ///< 0 means that the update never ends early
  double clip_norm = 0.5;               ///< maximum norm of each optimiser's gradient
  std::uint64_t seed = 0;               ///< seed of the order of the states
  std::int64_t iteration = 0;
  std::int64_t minibatch_states = 1;  ///< states of all ranks in a minibatch
  const torch::Tensor& global_state;  ///< [S] index of this rank's states among those of all ranks
  std::int64_t total_states = 0;      ///< number of states of all ranks
  comm::GradientArena& gradients;
  std::span<OptimiserStep> optimisers;  ///< the last one is the optimiser of the policy
  /// Counts the terms of the loss in each minibatch on all ranks. The loss of the minibatch is
  /// divided by these numbers. Collective.
  /// @param minibatches this rank's states of each minibatch
  std::function<std::vector<rl::PpoDenominators>(const std::vector<torch::Tensor>& minibatches)>
      count;
  /// Computes the loss of some states of this rank; returns nothing if they contribute no loss.
  std::function<std::optional<rl::PpoLoss>(const torch::Tensor& states,
                                           const rl::PpoDenominators& denominators)>
      loss;
};

/// Result of run_epochs(), equal on all ranks.
struct PpoEpochsResult {
  rl::PpoStatistics statistics;  ///< statistics of the last epoch
  double grad_norm = 0.0;        ///< policy's gradient norm before clipping, mean over the steps
  std::int64_t epochs = 0;       ///< number of epochs that were begun
  std::int64_t steps = 0;        ///< number of optimiser steps
};

/// Takes an optimiser step for each minibatch, until all epochs are done or the divergence of the
/// policy exceeds the bound set by target_kl (rl::is_kl_over). Collective.
/// @return nothing if the update was abandoned between two epochs because a stop was requested
/// @throws NumericError after too many steps in a row without a finite gradient
std::optional<PpoEpochsResult> run_epochs(const PpoEpochs& in, comm::Communicator& communicator);

/// Whether the user has asked any rank to stop. Collective.
bool is_given_up(comm::Communicator& communicator);

}  // namespace traffic::train
