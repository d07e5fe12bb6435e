/// What lights lived through, as tensors to learn from.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "lights/light_histories.h"
#include "policy/light_policy.h"
#include "traffic/comm/communicator.h"
#include "traffic/rl/running_mean_std.h"
#include "traffic/rl/segments.h"
#include "traffic/scene/signal_graph.h"

namespace traffic::train::lights {

/// Decisions of this rank, N of them, light by light in the order of time. The last decision of a
/// light in an episode is left out: what became of it is not known. It is the next state of the
/// one before.
///
/// An optimiser's step takes states: a decision each or, for a policy that looks around, all
/// decisions of a moment together, so that its graph is encoded once.
struct Experience {
  LightBatch batch;               ///< of N lights that decided, without a graph
  torch::Tensor chosen = {};      ///< [N] int64 row
  torch::Tensor log_prob = {};    ///< [N] of the policy that acted
  torch::Tensor advantages = {};  ///< [N] in units of the reward
  torch::Tensor values = {};      ///< [N] likewise, of the value that acted
  torch::Tensor returns = {};     ///< [N] likewise
  torch::Tensor light = {};       ///< [N] int64: whose history, of this rank's, it is part of
  std::vector<scene::SignalGraphView> moments = {};  ///< of such a policy; in the histories
  torch::Tensor moment = {};                         ///< [N] int64: which; else [0]
  torch::Tensor node = {};                           ///< [N] int64: which of its nodes; else [0]
  torch::Tensor by_state = {};                       ///< [N] int64: the decisions, state by state
  rl::Segments states = rl::Segments(torch::zeros({1}, torch::kLong));  ///< of by_state; S
  torch::Tensor global_state = {};  ///< [S] int64: place among the states of all ranks
  std::int64_t total = 0;           ///< decisions of all ranks
  std::int64_t total_states = 0;    ///< likewise
};

/// Some decisions as the policy sees them.
struct Taken {
  LightBatch batch;
  torch::Tensor chosen;  ///< [n] int64 row of the batch
};
/// @param decisions [n] int64
Taken take(const Experience& experience, const torch::Tensor& decisions);

struct Horizon {
  double gamma = 0.95;
  double gae_lambda = 0.9;
};

/// Collective.
/// @param episodes as long as what is returned
/// @param num_episodes of all ranks
/// @param scale in which the values were standardised
Experience pack(const std::vector<EpisodeHistory>& episodes, std::int64_t num_episodes,
                const rl::RunningMeanStd& scale, const Horizon& horizon,
                comm::Communicator& communicator);

}  // namespace traffic::train::lights
