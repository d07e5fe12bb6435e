// The network of the policy for traffic lights: its modules and its initial weights.
#include "traffic/model/signal_network.h"

#include "signal_layers.h"
#include "traffic/model/initialise.h"

namespace traffic::model {
namespace {

torch::nn::Linear without_bias(std::int64_t inputs, std::int64_t outputs) {
  return torch::nn::Linear(torch::nn::LinearOptions(inputs, outputs).bias(false));
}

/// Sizes of the encoder. If hidden_dim is a multiple of 16, its heads have 16 channels, a number
/// that fused layers support. Otherwise it has one head.
config::Model encoder_model(const SignalNetworkShape& shape) {
  constexpr std::int64_t kHeadDim = 16;
  config::Model model;
  model.hidden_dim = shape.hidden_dim;
  model.gnn_layers = shape.encoder_layers;
  model.num_heads = shape.hidden_dim % kHeadDim == 0 ? shape.hidden_dim / kHeadDim : 1;
  return model;
}

}  // namespace

SignalNetworkImpl::SignalNetworkImpl(const SignalNetworkShape& shape)
    : first_(register_module("first", torch::nn::Linear(shape.features, shape.hidden_dim))),
      second_(register_module("second", torch::nn::Linear(shape.hidden_dim, shape.hidden_dim))),
      choice_(register_module("choice", torch::nn::Linear(3 * shape.hidden_dim, shape.hidden_dim))),
      // No bias: a term common to all greens of a light changes none of their probabilities.
      logit_(register_module("logit", without_bias(shape.hidden_dim, 1))),
      rule_(register_module("rule", without_bias(shape.features, 1))),
      state_(register_module("state", torch::nn::Linear(2 * shape.hidden_dim, shape.hidden_dim))),
      value_(register_module("value", torch::nn::Linear(shape.hidden_dim, 1))) {
  if (shape.encoder_layers == 0) return;
  encoder_ = register_module("encoder", GraphEncoder(encoder_model(shape), shape.node_features));
  around_ = register_module("around", without_bias(shape.hidden_dim, shape.hidden_dim));
}

void SignalNetworkImpl::reset(std::uint64_t seed, const torch::Tensor& rule) {
  initialise(*this, seed);
  constexpr double kAlmostNothing = 0.01;
  const torch::NoGradGuard no_grad;
  logit_->weight.mul_(kAlmostNothing);
  rule_->weight.copy_(rule.unsqueeze(0));
  if (around_) around_->weight.zero_();
}

SignalOutput SignalNetworkImpl::forward(const SignalInput& in) {
  SignalLayerInput layers{.rows = in.rows, .light = in.light, .present = in.present};
  SignalLayerParameters parameters{first_->weight,  first_->bias,  second_->weight, second_->bias,
                                   choice_->weight, choice_->bias, logit_->weight,  rule_->weight,
                                   state_->weight,  state_->bias,  value_->weight,  value_->bias};
  if (encoder_) {
    layers.encoding = encoder_->forward(in.graph).index_select(0, in.node);
    parameters[kAroundWeight] = around_->weight;
  }
  return signal_layers(layers, parameters);
}

void SignalNetworkImpl::pack_for_inference() {
  if (encoder_) encoder_->pack_for_inference();
}

}  // namespace traffic::model
