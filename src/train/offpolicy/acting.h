/// From the scores of actions to actions.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

#include "offpolicy/mlp_learner.h"
#include "traffic/core/random.h"

namespace traffic::train::offpolicy {

/// A network that decides, and in which of its outputs the scores begin.
struct ActingNetwork {
  model::Mlp network;
  std::int64_t first_score = 0;

  [[nodiscard]] std::int64_t num_actions() const { return network->shape().outputs - first_score; }
};

/// The best action of each row.
/// @param obs [rows, inputs], on the CPU
void choose_best(ActingNetwork& acting, const torch::Tensor& obs, std::span<std::uint8_t> actions);

struct Exploration {
  double epsilon = 0.0;
  bool samples = false;  ///< draw by the softmax of the scores
};
/// Actions to learn from: random ones with probability epsilon.
/// @param vectors [rows, actions] what actions are drawn from, random numbers where they are
///     random; empty: not wanted
void explore(ActingNetwork& acting, const torch::Tensor& obs, const Exploration& exploration,
             Rng& rng, std::span<std::uint8_t> actions, std::span<float> vectors);

}  // namespace traffic::train::offpolicy
