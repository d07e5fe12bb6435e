#include "traffic/model/signal_network.h"

#include "traffic/model/initialise.h"

namespace traffic::model {
namespace {

/// Rows of one light, reduced: [B, H].
torch::Tensor mean_of_lights(const torch::Tensor& rows, const torch::Tensor& light,
                             std::int64_t lights) {
  const torch::Tensor sum =
      torch::zeros({lights, rows.size(1)}, rows.options()).index_add(0, light, rows);
  const torch::Tensor count =
      torch::zeros({lights}, rows.options())
          .index_add(0, light, torch::ones({light.size(0)}, rows.options()));
  return sum / count.unsqueeze(1);
}

torch::Tensor max_of_lights(const torch::Tensor& rows, const torch::Tensor& light,
                            std::int64_t lights) {
  const torch::Tensor index = light.unsqueeze(1).expand_as(rows);
  return torch::zeros({lights, rows.size(1)}, rows.options())
      .scatter_reduce(0, index, rows, "amax", /*include_self=*/false);
}

torch::nn::Linear without_bias(std::int64_t inputs, std::int64_t outputs) {
  return torch::nn::Linear(torch::nn::LinearOptions(inputs, outputs).bias(false));
}

/// Heads of a width that the fused layers take, where that goes into the whole.
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
      // No bias: what all greens of a light have in common moves none of their probabilities.
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

torch::Tensor SignalNetworkImpl::first_layer(const SignalInput& in) {
  torch::Tensor seen = first_->forward(in.rows);
  if (encoder_) {
    const torch::Tensor of_lights = encoder_->forward(in.graph).index_select(0, in.node);
    seen = seen + around_->forward(of_lights).index_select(0, in.light);
  }
  return torch::tanh(seen);
}

SignalOutput SignalNetworkImpl::forward(const SignalInput& in) {
  const std::int64_t lights = in.present.size(0);
  const torch::Tensor greens = torch::tanh(second_->forward(first_layer(in)));
  const torch::Tensor mean = mean_of_lights(greens, in.light, lights);
  const torch::Tensor present = greens.index_select(0, in.present);
  const torch::Tensor beside =
      torch::cat({mean, present}, 1).index_select(0, in.light);  // [R, 2 H]
  const torch::Tensor choice = torch::tanh(choice_->forward(torch::cat({greens, beside}, 1)));
  const torch::Tensor all = torch::cat({mean, max_of_lights(greens, in.light, lights)}, 1);
  const torch::Tensor logits = logit_->forward(choice) + rule_->forward(in.rows);
  return {.logits = logits.squeeze(1),
          .values = value_->forward(torch::tanh(state_->forward(all))).squeeze(1)};
}

}  // namespace traffic::model
