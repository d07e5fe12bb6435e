/// The policy of traffic lights: which green each light that asks is to show.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/model/signal_network.h"
#include "traffic/rl/segments.h"
#include "traffic/rollout/traffic/signal_period.h"

namespace traffic::train {

/// What lights that ask have before them: B lights, R greens in all.
struct SignalBatch {
  torch::Tensor rows;     ///< [R, F] float32
  torch::Tensor present;  ///< [B] int64 row
  rl::Segments lights;    ///< the rows of each light
};
/// Of one control period; the rows are copied.
SignalBatch signal_batch(std::span<const rollout::SignalChoice> choices,
                         std::span<const float> rows);

/// What was chosen.
struct SignalDecisions {
  std::vector<std::int32_t> green;  ///< [B]
  std::vector<float> log_prob{};    ///< [B]
  std::vector<float> value{};       ///< [B] standardised
};

/// What PPO asks of decisions that were made, with gradient.
struct SignalTerms {
  torch::Tensor log_prob;  ///< [B]
  torch::Tensor entropy;   ///< [B]
  torch::Tensor values;    ///< [B] standardised
};

class SignalPolicy {
 public:
  SignalPolicy(std::int64_t hidden_dim, std::uint64_t seed);

  /// @param uniforms [R] in [0, 1), from which choices are drawn; empty: the most probable ones
  SignalDecisions decide(const SignalBatch& batch, std::span<const float> uniforms);
  /// @param chosen [B] int64 row
  SignalTerms evaluate(const SignalBatch& batch, const torch::Tensor& chosen);

  [[nodiscard]] comm::NamedTensors parameters() const;

 private:
  model::SignalNetwork network_;
};

/// As "signals/features" and "signals/hidden_dim": what must be equal for the weights to mean the
/// same.
void put_signal_kind(checkpoint::Snapshot& snapshot, std::int64_t hidden_dim);
/// @return hidden_dim
/// @throws CheckpointError if its lights see something else than those of this version, or it
/// holds no policy of lights
std::int64_t signal_kind_in(const checkpoint::Snapshot& snapshot);

}  // namespace traffic::train
