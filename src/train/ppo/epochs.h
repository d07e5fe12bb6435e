/// The epochs of a PPO update, the same for every agent.
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

struct PpoEpochs {
  std::int64_t num_epochs = 1;
  std::int64_t accumulation_steps = 1;  ///< parts in which a minibatch goes forward and backward
  double target_kl = 0.0;               ///< 0: no early end
  double clip_norm = 0.5;
  std::uint64_t seed = 0;  ///< from which the order of the states is drawn
  std::int64_t iteration = 0;
  std::int64_t minibatch_states = 1;  ///< of all ranks
  const torch::Tensor& global_state;  ///< [S] places of this rank's states among those of all ranks
  std::int64_t total_states = 0;      ///< of all ranks
  comm::GradientArena& gradients;
  std::span<OptimiserStep> optimisers;  ///< the policy's is the last one
  /// Number of terms that the losses of each minibatch are divided by. Collective.
  /// @param minibatches this rank's states of each
  std::function<std::vector<rl::PpoDenominators>(const std::vector<torch::Tensor>& minibatches)>
      count;
  /// Loss of some states of this rank; nothing if nothing was decided in them.
  std::function<std::optional<rl::PpoLoss>(const torch::Tensor& states,
                                           const rl::PpoDenominators& denominators)>
      loss;
};

/// What the epochs did; equal on all ranks.
struct PpoEpochsResult {
  rl::PpoStatistics statistics;  ///< of the last epoch
  double grad_norm = 0.0;        ///< of the policy, before clipping, mean over the steps
  std::int64_t epochs = 0;
  std::int64_t steps = 0;
};

/// Goes through the minibatches, with a step after each, until the epochs are over or the policy
/// has moved as far as target_kl allows. Collective.
/// @return nothing if it was given up between two epochs because a stop is requested
/// @throws NumericError after too many steps in a row without a finite gradient
std::optional<PpoEpochsResult> run_epochs(const PpoEpochs& in, comm::Communicator& communicator);

/// Whether any rank is asked to stop. Collective.
bool is_given_up(comm::Communicator& communicator);

}  // namespace traffic::train
