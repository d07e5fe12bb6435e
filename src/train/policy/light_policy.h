/// The policy of traffic lights. For each light that may switch, it chooses the next green, a phase
/// in which vehicles on some links may drive.
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

/// Shape and task of a policy's network.
struct LightKind {
  std::int64_t hidden_dim = 48;
  /// Number of layers over the graph of all lights; 0 means that the graph is not used.
  std::int64_t encoder_layers = 0;
  /// Whether the policy keeps the lights' own programs and chooses only how long their phases last
  /// (rollout::LightChooser). If so, the structures below contain the options of such a decision
  /// instead of greens.
  bool keeps_programs = false;

  bool operator==(const LightKind&) const = default;
};

/// Observations of B lights that may switch, with R greens in total.
struct LightBatch {
  torch::Tensor rows;            ///< [R, F] float32: features of the greens, light by light
  torch::Tensor present;         ///< [B] int64: row of the green that the light shows now
  rl::Segments lights;           ///< the rows (greens) of each light
  model::GraphBatch graph = {};  ///< all lights of the network; empty without an encoder
  torch::Tensor node = {};       ///< [B] int64: node of each light in the graph
};
/// Builds the batch of one control period, without a graph. Copies the rows.
LightBatch light_batch(std::span<const rollout::LightChoice> choices, std::span<const float> rows);
/// Joins the graphs of several moments into one on the CPU.
model::GraphBatch pack_lights(std::span<const scene::SignalGraphView> moments);

/// The choices of B lights.
struct LightDecisions {
  std::vector<std::int32_t> green;  ///< [B] index among the light's greens
  std::vector<float> log_prob{};    ///< [B] log-probability of that green
  std::vector<float> value{};       ///< [B] value estimate, in standardised units
};

/// Terms of the PPO loss for B decisions, with gradient.
struct LightTerms {
  torch::Tensor log_prob;  ///< [B] log-probability of the chosen greens
  torch::Tensor entropy;   ///< [B] in nats
  torch::Tensor values;    ///< [B] standardised
};

/// Initial logit of a green per vehicle near its stop line: one more vehicle makes the green e^2
/// times as probable. The advised option gets as much as kVehiclesOfAdvice vehicles.
constexpr double kLogitOfAVehicle = 2.0;
constexpr double kVehiclesOfAdvice = 1.5;

/// Decides for the traffic lights of one or several simulations.
class LightPolicy {
 public:
  /// The initial policy acts almost exactly like the script `greedy`. If the lights keep their
  /// programs, it acts almost exactly like its advisor, a script that suggests an option.
  /// @param seed seed of the initial weights
  /// @param logit_of_a_vehicle initial logit of a green per vehicle near its stop line. If the
  ///   lights keep their programs, the advised option has kVehiclesOfAdvice times this logit
  LightPolicy(const LightKind& kind, std::uint64_t seed,
              double logit_of_a_vehicle = kLogitOfAVehicle);

  /// Whether the policy reads the graph of all lights.
  [[nodiscard]] bool looks_around() const { return kind_.encoder_layers > 0; }
  [[nodiscard]] const LightKind& kind() const { return kind_; }
  /// Builds the batch of one control period.
  /// @param graph the graph of all lights; it is used only if looks_around() is true
  /// @throws Error if looks_around() is true and the graph is empty
  [[nodiscard]] LightBatch observe(std::span<const rollout::LightChoice> choices,
                                   std::span<const float> rows,
                                   const scene::SignalGraphView& graph) const;
  /// Makes decide() epsilon-greedy if it gets random numbers. With probability epsilon, a light
  /// takes one of its greens at random; otherwise it takes the best green.
  void explore(double epsilon) { epsilon_ = epsilon; }
  /// Prepares the weights for faster inference. Call it once they have their final values.
  void pack_for_inference();
  /// Chooses a green for each light, without gradient.
  /// @param uniforms [R] random numbers in [0, 1) to sample with; if empty, the best greens are
  ///   chosen
  LightDecisions decide(const LightBatch& batch, std::span<const float> uniforms);
  /// Evaluates given choices, with gradient.
  /// @param chosen [B] int64: row of the chosen green of each light
  LightTerms evaluate(const LightBatch& batch, const torch::Tensor& chosen);

  /// Logits of all greens and values of all lights, with gradient.
  [[nodiscard]] model::SignalOutput forward(const LightBatch& batch);
  [[nodiscard]] const model::SignalNetwork& network() const { return network_; }
  /// The parameters, named "lights.<name>".
  [[nodiscard]] comm::NamedTensors parameters() const;

 private:
  LightKind kind_;
  model::SignalNetwork network_;
  /// Share of random greens; if not set, greens are sampled from their probabilities.
  std::optional<double> epsilon_;
};

/// Stores the feature names and the network's shape, which the weights depend on, as
/// "lights/features", "lights/hidden_dim", "lights/encoder_layers" and "lights/keeps_programs".
void put_light_kind(checkpoint::Snapshot& snapshot, const LightKind& kind);
/// Whether the checkpoint holds a policy of traffic lights.
bool has_light_policy(const checkpoint::Snapshot& snapshot);
/// Reads the shape of the network from a checkpoint.
/// @throws CheckpointError if the checkpoint holds no policy of traffic lights, or one that reads
/// other features than this version provides
LightKind light_kind_in(const checkpoint::Snapshot& snapshot);
/// Checks that the policy in a checkpoint has the expected shape.
/// @throws CheckpointError as light_kind_in(), or if the policy's network has another shape
void check_light_kind(const checkpoint::Snapshot& snapshot, const LightKind& expected);

}  // namespace traffic::train
