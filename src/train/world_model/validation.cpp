#include "world_model/validation.h"

#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

/// Access to the elements of a [S, H] tensor, copied to the CPU.
class Matrix {
 public:
  explicit Matrix(const torch::Tensor& tensor)
      : tensor_(tensor.to(torch::kCPU, torch::kFloat).contiguous()), columns_(tensor_.size(1)) {}
  [[nodiscard]] double at(std::int64_t row, std::int64_t column) const {
    return tensor_.const_data_ptr<float>()[row * columns_ + column];
  }

 private:
  torch::Tensor tensor_;
  std::int64_t columns_;
};

/// Adds the errors of the model, and of predictions with constant velocity and with constant
/// acceleration, for all vehicles and horizons of a batch.
/// @param weights 0 for vehicles to leave out, see vehicle_weights()
void add_errors(const data::Batch& batch, const torch::Tensor& weights,
                const PhysicalPrediction& prediction, double frame_s, HorizonErrors& errors) {
  const Matrix displacement(batch.future_displacement_m);
  const Matrix speed(batch.future_speed_mps);
  const Matrix mask(batch.future_mask);
  const Matrix model_displacement(prediction.displacement_m);
  const Matrix model_speed(prediction.speed_mps);
  const auto speed_now = batch.speed_mps.accessor<float, 1>();
  const auto acceleration_now = batch.acceleration_mps2.accessor<float, 1>();
  const auto weight = weights.accessor<float, 1>();
  for (std::int64_t s = 0; s < batch.num_vehicles(); ++s) {
    if (weight[s] == 0.0F) continue;
    const double v = speed_now[s];
    for (std::int64_t h = 0; h < errors.horizons(); ++h) {
      if (mask.at(s, h) == 0.0) continue;
      const double seconds = frame_s * static_cast<double>(h + 1);
      const double x = displacement.at(s, h);
      const double u = speed.at(s, h);
      const auto [ca_x, ca_u] = constant_acceleration_prediction(v, acceleration_now[s], seconds);
      errors.add(HorizonErrors::kModel, h, model_displacement.at(s, h) - x,
                 model_speed.at(s, h) - u);
      errors.add(HorizonErrors::kConstantVelocity, h, v * seconds - x, v - u);
      errors.add(HorizonErrors::kConstantAcceleration, h, ca_x - x, ca_u - u);
    }
  }
}

/// Adds the predicted conflict probabilities of a batch and whether these conflicts occurred.
void add_conflicts(const data::Batch& batch, const torch::Tensor& weights,
                   const torch::Tensor& probability, RocHistogram& conflicts) {
  const torch::Tensor cpu = probability.to(torch::kCPU, torch::kFloat).contiguous();
  const auto score = cpu.accessor<float, 1>();
  const auto label = batch.conflict.accessor<float, 1>();
  const auto mask = batch.conflict_mask.accessor<bool, 1>();
  const auto weight = weights.accessor<float, 1>();
  for (std::int64_t s = 0; s < batch.num_vehicles(); ++s) {
    if (mask[s] && weight[s] != 0.0F) conflicts.add(score[s], label[s] > 0.5F);
  }
}

void reduce(std::span<double> sums, comm::Communicator& communicator) {
  communicator.all_reduce(
      torch::from_blob(sums.data(), {static_cast<std::int64_t>(sums.size())}, torch::kDouble));
}

}  // namespace

Validation validate(WorldModelNetworks& model, data::TrafficLoader& loader,
                    comm::Communicator& communicator, std::int64_t max_batches) {
  const torch::InferenceMode inference;
  Validation result{.errors = HorizonErrors(model.horizons())};
  std::array<double, 2> loss_and_vehicles{0.0, 0.0};
  loader.start_epoch(0);
  for (std::int64_t i = 0; max_batches == 0 || i < max_batches; ++i) {
    const auto batch = loader.next();
    if (!batch) break;
    const torch::Tensor weights = vehicle_weights(*batch);
    const data::Batch there = batch->to(model.device());
    const WorldModelForward forward = model.forward(there, Stage::kFuture);
    const double vehicles = weights.sum().item<double>();
    loss_and_vehicles[0] += forward.loss.item<double>() * vehicles;
    loss_and_vehicles[1] += vehicles;
    add_errors(*batch, weights, model.to_physical(forward.output, there), model.frame_s(),
               result.errors);
    add_conflicts(*batch, weights, torch::sigmoid(forward.output.conflict_logit), result.conflicts);
  }
  reduce(loss_and_vehicles, communicator);
  reduce(result.errors.sums(), communicator);
  reduce(result.conflicts.counts(), communicator);
  result.vehicles = loss_and_vehicles[1];
  result.loss = loss_and_vehicles[0] / std::max(1.0, result.vehicles);
  return result;
}

}  // namespace traffic::train
