#include "world_model/networks.h"

#include "optim/precision.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/model/initialise.h"
#include "traffic/model/loss.h"
#include "traffic/scene/frame.h"

namespace traffic::train {
namespace {

constexpr const char* kEncoderPrefix = "encoder.";
constexpr const char* kWorldModelPrefix = "world_model.";

/// The batch as a graph, with rows in the order of frames, which the encoder expects.
model::GraphBatch graph_of(const data::Batch& batch) {
  return {.node_features = batch.node_features.flatten(0, 1),
          .edge_ptr = batch.edge_ptr,
          .edge_src = batch.edge_src,
          .edge_features = batch.edge_features};
}

model::WorldModelTargets targets_of(const data::Batch& batch, const model::MotionScales& scales) {
  return {.future = model::to_residuals({.displacement_m = batch.future_displacement_m,
                                         .speed_mps = batch.future_speed_mps,
                                         .acceleration_mps2 = batch.future_acceleration_mps2,
                                         .lane = batch.future_lane},
                                        {.speed_mps = batch.speed_mps, .lane = batch.lane}, scales),
          .future_mask = batch.future_mask,
          .conflict = batch.conflict,
          .conflict_mask = batch.conflict_mask};
}

void append_parameters(const torch::nn::Module& module, const std::string& prefix,
                       comm::NamedTensors& parameters) {
  for (const auto& item : module.named_parameters())
    parameters.emplace_back(prefix + item.key(), item.value());
}

}  // namespace

torch::Tensor vehicle_weights(const data::Batch& batch) {
  const torch::Tensor sizes = batch.sample_ptr.to(torch::kCPU, torch::kLong).diff();
  return batch.sample_weight.to(torch::kCPU).repeat_interleave(sizes);
}

WorldModelNetworks::WorldModelNetworks(const config::Config& config, double frame_s,
                                       torch::Device device)
    : device_(device),
      horizons_(config.data.horizon_frames),
      frame_s_(frame_s),
      scales_(horizons_, frame_s, device),
      future_weight_(config.train.future_weight),
      conflict_weight_(config.train.conflict_weight),
      encoder_(config.model, static_cast<std::int64_t>(scene::node_features().size())),
      world_model_(config.model, horizons_) {
  const auto seed = static_cast<std::uint64_t>(config.run.seed);
  model::initialise(*encoder_, derive_seed(seed, {kEncoderStream}));
  model::initialise(*world_model_, derive_seed(seed, {kWorldModelStream}));
  encoder_->to(device);
  world_model_->to(device);
  const torch::ScalarType compute = compute_type(config.train.precision);
  encoder_->set_compute_type(compute);
  world_model_->set_compute_type(compute);
  encoder_->set_checkpointing(config.train.gradient_checkpointing);
  world_model_->set_checkpointing(config.train.gradient_checkpointing);
}

void WorldModelNetworks::ignore_missing(const data::FileInfo& data) {
  const auto missing = [](const data::FeatureTable& table) {
    std::vector<std::int64_t> columns;
    for (std::size_t c = 0; c < table.size(); ++c) {
      if (!table[c].present) columns.push_back(static_cast<std::int64_t>(c));
    }
    return columns;
  };
  encoder_->ignore_features(missing(data.node_features), missing(data.edge_features));
}

WorldModelForward WorldModelNetworks::forward(const data::Batch& batch, Stage stage) {
  const torch::Tensor encodings = encoder_->forward(graph_of(batch));
  const std::int64_t frames = batch.present.size(0);
  WorldModelForward result;
  result.output =
      world_model_->forward(encodings.view({frames, batch.num_vehicles(), -1}), batch.present);
  result.loss = model::world_model_loss(result.output, targets_of(batch, scales_),
                                        stage == Stage::kNextState ? 1 : 2,
                                        {.future = future_weight_, .conflict = conflict_weight_})
                    .total;
  return result;
}

PhysicalPrediction WorldModelNetworks::to_physical(const model::WorldModelOutput& output,
                                                   const data::Batch& batch) const {
  const model::FutureMotion motion =
      model::to_motion(output.future, {.speed_mps = batch.speed_mps, .lane = batch.lane}, scales_);
  // A vehicle does not reverse, so neither its displacement nor its speed is negative.
  return {.displacement_m = motion.displacement_m.clamp_min(0.0),
          .speed_mps = motion.speed_mps.clamp_min(0.0)};
}

std::vector<std::string> WorldModelNetworks::parameters_without_gradient(Stage stage) const {
  std::vector<std::string> names =
      world_model_->parameters_without_gradient(stage == Stage::kNextState ? 1 : 2);
  for (std::string& name : names) name.insert(0, kWorldModelPrefix);
  return names;
}

comm::NamedTensors WorldModelNetworks::trainable_parameters() const {
  comm::NamedTensors parameters;
  append_parameters(*encoder_, kEncoderPrefix, parameters);
  append_parameters(*world_model_, kWorldModelPrefix, parameters);
  return parameters;
}

}  // namespace traffic::train
