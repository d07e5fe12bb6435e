/// Packs the histories of traffic lights (light_histories.h) into tensors, and computes advantages
/// and returns for PPO.
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

/// The N decisions of this rank, light by light in the order of time. The last decision of a light
/// in an episode is left out, because its reward is incomplete. It only serves as the next state of
/// the previous decision.
///
/// Minibatches consist of states. If the policy reads the graph of all lights, a state consists of
/// all decisions at one time (moment), so that the graph of that time is encoded only once.
/// Otherwise every decision is a state.
struct Experience {
  LightBatch batch;               ///< observations of the N decisions, without graphs
  torch::Tensor chosen = {};      ///< [N] int64: row of the chosen green
  torch::Tensor log_prob = {};    ///< [N] log-probability under the policy that acted
  torch::Tensor advantages = {};  ///< [N] in units of the reward
  torch::Tensor values = {};      ///< [N] estimates at decision time, in units of the reward
  torch::Tensor returns = {};     ///< [N] in units of the reward
  torch::Tensor light = {};       ///< [N] int64: index of the light history on this rank
  /// Graphs of all moments, as views of the histories; empty if the policy reads no graph.
  std::vector<scene::SignalGraphView> moments = {};
  torch::Tensor moment = {};    ///< [N] int64: index in `moments`; empty if there are no graphs
  torch::Tensor node = {};      ///< [N] int64: node of the light in its graph; empty without graphs
  torch::Tensor by_state = {};  ///< [N] int64: indices of the decisions, state by state
  /// The parts of by_state that belong to the S states.
  rl::Segments states = rl::Segments(torch::zeros({1}, torch::kLong));
  torch::Tensor global_state = {};  ///< [S] int64: index among the states of all ranks
  std::int64_t total = 0;           ///< number of decisions of all ranks
  std::int64_t total_states = 0;    ///< number of states of all ranks
};

/// Some decisions of an Experience, as input for the policy.
struct Taken {
  LightBatch batch;
  torch::Tensor chosen;  ///< [n] int64: row of the chosen green in the batch
};
/// Selects decisions, with the graphs of their moments.
/// @param decisions [n] int64; decisions of the same moment must be adjacent
Taken take(const Experience& experience, const torch::Tensor& decisions);

/// How far into the future advantages look.
struct Horizon {
  double gamma = 0.95;      ///< discount of a control period
  double gae_lambda = 0.9;  ///< lambda of the generalised advantage estimation, per control period
};

/// Packs the histories of this rank and computes advantages and returns. Collective.
/// @param episodes must outlive the result, which refers to their graphs
/// @param num_episodes number of episodes of all ranks
/// @param scale scale that converts the standardised values in the histories to units of the reward
Experience pack(const std::vector<EpisodeHistory>& episodes, std::int64_t num_episodes,
                const rl::RunningMeanStd& scale, const Horizon& horizon,
                comm::Communicator& communicator);

}  // namespace traffic::train::lights
