/// What lights lived through, as tensors to learn from.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "policy/signal_policy.h"
#include "signals/episodes.h"
#include "traffic/comm/communicator.h"
#include "traffic/rl/running_mean_std.h"

namespace traffic::train::signals {

/// Decisions of this rank, N of them, light by light in the order of time. The last decision of a
/// light in an episode is left out: what became of it is not known. It is the next state of the
/// one before.
struct Experience {
  SignalBatch batch;                ///< of N lights that decided
  torch::Tensor chosen = {};        ///< [N] int64 row
  torch::Tensor log_prob = {};      ///< [N] of the policy that acted
  torch::Tensor advantages = {};    ///< [N] in units of the reward
  torch::Tensor values = {};        ///< [N] likewise, of the value that acted
  torch::Tensor returns = {};       ///< [N] likewise
  torch::Tensor light = {};         ///< [N] int64: whose history, of this rank's, it is part of
  torch::Tensor global_state = {};  ///< [N] int64: place among the decisions of all ranks
  std::int64_t total = 0;           ///< decisions of all ranks
};

struct Horizon {
  double gamma = 0.95;
  double gae_lambda = 0.9;
};

/// Collective.
/// @param num_episodes of all ranks
/// @param scale in which the values were standardised
Experience pack(const std::vector<EpisodeHistory>& episodes, std::int64_t num_episodes,
                const rl::RunningMeanStd& scale, const Horizon& horizon,
                comm::Communicator& communicator);

}  // namespace traffic::train::signals
