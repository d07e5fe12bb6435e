#include "driving/policy.h"

#include <fmt/format.h>
#include <torch/utils.h>

#include "traffic/core/error.h"
#include "traffic/driving/driver.h"
#include "traffic/driving/observation.h"
#include "traffic/model/initialise.h"

namespace traffic::train::driving_policy {
namespace {

comm::NamedTensors trained(const torch::nn::Module& network) {
  comm::NamedTensors all;
  for (const auto& parameter : network.named_parameters()) {
    all.emplace_back(parameter.key(), parameter.value());
  }
  return all;
}

}  // namespace

std::string structure_text(const Driving& settings) {
  return fmt::format("input {}, raster {}, status {}, head {}, width {}, hidden_dim {}, modes {}",
                     settings.input, settings.raster, driving::kStatusSize, settings.head,
                     settings.width, settings.hidden_dim, settings.modes);
}

Policy::Policy(const Driving& settings, std::uint64_t seed, torch::Device device)
    : settings_(settings), device_(device), network_(shape_of(settings)) {
  model::initialise(*network_, seed);
  network_->to(device);
  parameters_ = std::make_unique<comm::ParameterArena>(trained(*network_));
}

void Policy::set_statistics(const torch::Tensor& plans, const torch::Tensor& speed_mps,
                            std::uint64_t seed) {
  torch::Tensor straight = torch::zeros_like(plans);
  for (std::int64_t i = 0; i < model::kPlanSize; i += 2) {
    straight.select(1, i).copy_(speed_mps * (driving::kFrame_s * static_cast<double>(i / 2 + 1)));
  }
  const torch::Tensor difference = plans - straight;
  model::PlanStatistics statistics{.scale = difference.abs().mean(0).clamp_min(0.05),
                                   .anchors = {}};
  if (settings_.head != "regression") {
    if (plans.size(0) < settings_.modes) {
      throw DataError(
          "there are {} training samples, but driving.modes = {} needs at least as many; record "
          "more scenes or lower driving.modes",
          plans.size(0), settings_.modes);
    }
    statistics.anchors = model::group_centres(difference / statistics.scale, settings_.modes, seed);
  }
  network_->set_statistics(statistics);
}

torch::Tensor Policy::loss(const DrivingBatch& batch) {
  return network_->loss(network_->encode(batch.image, batch.status), batch.speed_mps, batch.plan,
                        batch.weight, batch.noise, batch.noise_level);
}

model::DrivingPlans Policy::plans(const DrivingBatch& batch, std::int64_t count) {
  const torch::InferenceMode inference;
  return network_->plans(network_->encode(batch.image, batch.status), batch.speed_mps, count,
                         settings_.diffusion_steps);
}

void Policy::save_to(checkpoint::Snapshot& snapshot) const {
  snapshot.put_text("driving/structure", structure_text(settings_));
  for (const auto& buffer : network_->named_buffers()) {
    snapshot.put_tensor("driving/" + buffer.key(), buffer.value());
  }
}

void Policy::restore_statistics(const checkpoint::Snapshot& snapshot) {
  const std::string& stored = snapshot.text("driving/structure");
  const std::string mine = structure_text(settings_);
  if (stored != mine) {
    throw CheckpointError(
        "checkpoint {}: its driving policy has {}, but [driving] describes {}; use the settings of "
        "the checkpoint or start a new run",
        snapshot.source(), stored, mine);
  }
  const torch::NoGradGuard no_grad;
  for (auto& buffer : network_->named_buffers()) {
    snapshot.copy_tensor("driving/" + buffer.key(), buffer.value());
  }
}

}  // namespace traffic::train::driving_policy
