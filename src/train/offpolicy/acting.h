/// Chooses the actions of many agents at once by the scores that a network gives to the actions.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

#include "offpolicy/mlp_learner.h"
#include "traffic/core/random.h"

namespace traffic::train::offpolicy {

/// A network whose outputs, from index first_score on, are the scores of the actions.
struct ActingNetwork {
  model::Mlp network;
  std::int64_t first_score = 0;

  [[nodiscard]] std::int64_t num_actions() const { return network->shape().outputs - first_score; }
};

/// Chooses the action with the highest score in each row.
/// @param obs [rows, inputs], on the CPU
/// @param actions [rows] output
void choose_best(ActingNetwork& acting, const torch::Tensor& obs, std::span<std::uint8_t> actions);

/// How explore() chooses actions.
struct Exploration {
  double epsilon = 0.0;  ///< probability of a random action
  /// Whether the actions that are not random are drawn from the softmax of the scores. If not, they
  /// are the actions with the highest score.
  bool samples = false;
};
/// Chooses an action for each row, partly at random, to collect experience.
/// @param obs [rows, inputs], on the CPU
/// @param actions [rows] output
/// @param vectors [rows, num_actions] output: the weights from which each action was drawn. The
///   weights of a random action are uniform random numbers. If an action was taken because it
///   has the highest score, its row is not written. If the span is empty, no row is written
void explore(ActingNetwork& acting, const torch::Tensor& obs, const Exploration& exploration,
             Rng& rng, std::span<std::uint8_t> actions, std::span<float> vectors);

}  // namespace traffic::train::offpolicy
