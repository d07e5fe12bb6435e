// The world model: an LSTM, and the heads that predict the motion and the conflict of each vehicle.
#include "traffic/model/world_model.h"

#include <torch/nn.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "dense_products.h"
#include "perceptron.h"
#include "traffic/core/error.h"

namespace traffic::model {
namespace {

constexpr std::int64_t kHeadHidden = 256;
constexpr std::int64_t kConflictHidden = 128;
constexpr std::int64_t kMotion = 4;  // displacement, speed, acceleration, lane

/// A head: two layers with ReLU in between.
torch::nn::Sequential head(std::int64_t in, std::int64_t hidden, std::int64_t out) {
  return torch::nn::Sequential(torch::nn::Linear(in, hidden), torch::nn::ReLU(),
                               torch::nn::Linear(hidden, out));
}

}  // namespace

WorldModelImpl::WorldModelImpl(const config::Model& model, std::int64_t horizon_frames)
    : horizon_frames_(horizon_frames) {
  const std::int64_t h = model.lstm_hidden;
  lstm_ = register_module("lstm", Lstm(LstmOptions{model.hidden_dim, h, model.lstm_layers}));
  next_ = register_module("next", head(h, kHeadHidden, kMotion));
  z_flow_ = register_module("z_flow", torch::nn::Linear(h, model.latent_dim));
  z_risk_ = register_module("z_risk", torch::nn::Linear(h, model.latent_dim));
  future_ =
      register_module("future", head(model.latent_dim, kHeadHidden, horizon_frames * kMotion));
  conflict_ = register_module("conflict", head(model.latent_dim, kConflictHidden, 1));
}

WorldModelOutput WorldModelImpl::forward(const torch::Tensor& encodings,
                                         const torch::Tensor& present) {
  return heads(lstm_->forward(encodings, present));
}

torch::Tensor WorldModelImpl::step(const torch::Tensor& encodings, LstmState& state) {
  return lstm_->step(encodings, state);
}

torch::Tensor WorldModelImpl::latents(const torch::Tensor& hidden) {
  if (packed_latents_) return dense(hidden, packed_latents_->weight, packed_latents_->bias);
  return torch::cat({z_flow_(hidden), z_risk_(hidden)}, 1);
}

void WorldModelImpl::pack_for_inference() {
  lstm_->pack_for_inference();
  const torch::NoGradGuard no_grad;
  packed_latents_.reset();
  if (!z_flow_->weight.is_cpu() || z_flow_->weight.scalar_type() != torch::kFloat) return;
  packed_latents_ = std::make_shared<const DenseParameters>(
      DenseParameters{.weight = torch::cat({z_flow_->weight, z_risk_->weight}),
                      .bias = torch::cat({z_flow_->bias, z_risk_->bias})});
}

void WorldModelImpl::unpack() {
  lstm_->unpack();
  packed_latents_.reset();
}

WorldModelOutput WorldModelImpl::heads(const torch::Tensor& h) {
  WorldModelOutput out;
  out.next = next_->forward(h);
  out.z_flow = z_flow_(h);
  out.z_risk = z_risk_(h);
  out.future = future_->forward(out.z_flow).view({h.size(0), horizon_frames_, kMotion});
  out.conflict_logit = conflict_->forward(out.z_risk).squeeze(1);
  return out;
}

std::vector<std::string> WorldModelImpl::parameters_without_gradient(std::int64_t stage) const {
  TRAFFIC_CHECK(stage == 1 || stage == 2, "the stage is {}, expected 1 or 2", stage);
  std::vector<std::string> names;
  if (stage == 2) return names;
  for (const auto& parameter : named_parameters()) {
    const std::string& name = parameter.key();
    if (!name.starts_with("lstm.") && !name.starts_with("next.")) names.push_back(name);
  }
  return names;
}

}  // namespace traffic::model
