/// The policy of traffic lights: which green each light that asks is to show.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/model/signal_network.h"
#include "traffic/rl/segments.h"
#include "traffic/rollout/traffic/light_choices.h"
#include "traffic/scene/signal_graph.h"

namespace traffic::train {

/// What a policy of lights is made of.
struct LightKind {
  std::int64_t hidden_dim = 48;
  std::int64_t encoder_layers = 0;  ///< over the graph of all lights; 0: it does not look at that

  bool operator==(const LightKind&) const = default;
};

/// What lights that ask have before them: B lights, R greens in all.
struct LightBatch {
  torch::Tensor rows;            ///< [R, F] float32
  torch::Tensor present;         ///< [B] int64 row
  rl::Segments lights;           ///< the rows of each light
  model::GraphBatch graph = {};  ///< all lights of their networks, for a policy that looks at them
  torch::Tensor node = {};       ///< [B] int64: which of its nodes each light is
};
/// Of one control period; the rows are copied.
LightBatch light_batch(std::span<const rollout::LightChoice> choices, std::span<const float> rows);
/// The lights of several moments as one graph, on the CPU.
model::GraphBatch pack_lights(std::span<const scene::SignalGraphView> moments);

/// What was chosen.
struct LightDecisions {
  std::vector<std::int32_t> green;  ///< [B]
  std::vector<float> log_prob{};    ///< [B]
  std::vector<float> value{};       ///< [B] standardised
};

/// What PPO asks of decisions that were made, with gradient.
struct LightTerms {
  torch::Tensor log_prob;  ///< [B]
  torch::Tensor entropy;   ///< [B]
  torch::Tensor values;    ///< [B] standardised
};

/// As the script `greedy`, as probabilities: a vehicle more near the line makes a green e^2 times
/// as probable.
constexpr double kLogitOfAVehicle = 2.0;

class LightPolicy {
 public:
  /// It begins as the script `greedy`, almost.
  /// @param logit_of_a_vehicle how much higher the logit of a green is for a vehicle more
  LightPolicy(const LightKind& kind, std::uint64_t seed,
              double logit_of_a_vehicle = kLogitOfAVehicle);

  [[nodiscard]] bool looks_around() const { return kind_.encoder_layers > 0; }
  [[nodiscard]] const LightKind& kind() const { return kind_; }
  /// Of one control period, with what this policy looks at. @param graph used if it looks around
  [[nodiscard]] LightBatch observe(std::span<const rollout::LightChoice> choices,
                                   std::span<const float> rows,
                                   const scene::SignalGraphView& graph) const;
  /// Choices are drawn otherwise from now on: the best green but for this share of them, in which
  /// any is as likely.
  void explore(double epsilon) { epsilon_ = epsilon; }
  /// For weights that do not change any more.
  void pack_for_inference();
  /// @param uniforms [R] in [0, 1), from which choices are drawn; empty: the best ones
  LightDecisions decide(const LightBatch& batch, std::span<const float> uniforms);
  /// @param chosen [B] int64 row
  LightTerms evaluate(const LightBatch& batch, const torch::Tensor& chosen);

  /// With gradient.
  [[nodiscard]] model::SignalOutput forward(const LightBatch& batch);
  [[nodiscard]] const model::SignalNetwork& network() const { return network_; }
  [[nodiscard]] comm::NamedTensors parameters() const;

 private:
  LightKind kind_;
  model::SignalNetwork network_;
  std::optional<double> epsilon_;
};

/// As "lights/features", "lights/hidden_dim" and "lights/encoder_layers": what must be equal for
/// the weights to mean the same.
void put_light_kind(checkpoint::Snapshot& snapshot, const LightKind& kind);
/// Whether it holds a policy of lights.
bool has_light_policy(const checkpoint::Snapshot& snapshot);
/// @throws CheckpointError if its lights see something else than those of this version, or it
/// holds no policy of lights
LightKind light_kind_in(const checkpoint::Snapshot& snapshot);
/// @throws CheckpointError likewise, or if its policy is of another kind
void check_light_kind(const checkpoint::Snapshot& snapshot, const LightKind& expected);

}  // namespace traffic::train
