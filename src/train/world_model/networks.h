/// The networks that the training `world_model` (phase 1) trains: the graph encoder and the world
/// model. They compute predictions and the loss from a batch.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "traffic/comm/flat_arena.h"
#include "traffic/config/config.h"
#include "traffic/data/batch.h"
#include "traffic/data/format.h"
#include "traffic/model/graph_encoder.h"
#include "traffic/model/targets.h"
#include "traffic/model/world_model.h"

namespace traffic::train {

/// The two stages of the training. In the first, the loss contains only the prediction of the next
/// state. In the second, it also contains later states and conflicts.
enum class Stage : std::uint8_t { kNextState, kFuture };

struct WorldModelForward {
  model::WorldModelOutput output;
  torch::Tensor loss;  ///< scalar
};

/// Predictions for S vehicles and H frames, in physical units.
struct PhysicalPrediction {
  torch::Tensor displacement_m;  ///< [S, H] displacement since the current frame
  torch::Tensor speed_mps;       ///< [S, H]
};

/// Weights that leave out samples that are only repeated to fill a batch.
/// @return [S] float32 on the CPU: 0 for the vehicles of such a sample, 1 for all other vehicles
torch::Tensor vehicle_weights(const data::Batch& batch);

/// The graph encoder followed by the world model.
class WorldModelNetworks {
 public:
  /// Initial parameters depend on the seed alone, so they are the same on all ranks.
  WorldModelNetworks(const config::Config& config, double frame_s, torch::Device device);

  /// Makes the encodings independent of features that the data lack.
  void ignore_missing(const data::FileInfo& data);

  /// The loss is a mean over vehicles. The loss of several batches together (of all ranks and
  /// micro-batches) is therefore the mean of their losses weighted by their numbers of vehicles.
  WorldModelForward forward(const data::Batch& batch, Stage stage);
  /// Converts the output of forward() to physical units.
  [[nodiscard]] PhysicalPrediction to_physical(const model::WorldModelOutput& output,
                                               const data::Batch& batch) const;

  [[nodiscard]] comm::NamedTensors trainable_parameters() const;
  /// Names of the parameters that get no gradient from the loss of a stage.
  [[nodiscard]] std::vector<std::string> parameters_without_gradient(Stage stage) const;
  [[nodiscard]] torch::Device device() const { return device_; }
  [[nodiscard]] std::int64_t horizons() const { return horizons_; }
  [[nodiscard]] double frame_s() const { return frame_s_; }

 private:
  torch::Device device_;
  std::int64_t horizons_;
  double frame_s_;
  model::MotionScales scales_;
  double future_weight_;
  double conflict_weight_;
  model::GraphEncoder encoder_;
  model::WorldModel world_model_;
};

}  // namespace traffic::train
