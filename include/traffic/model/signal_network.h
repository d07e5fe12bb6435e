/// The network of traffic lights: from what is seen of each green to how good it is. One for all
/// lights, whatever their number of greens.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

#include "traffic/model/graph_batch.h"
#include "traffic/model/graph_encoder.h"

namespace traffic::model {

struct SignalNetworkShape {
  std::int64_t features = 1;  ///< of a green
  std::int64_t hidden_dim = 48;
  std::int64_t encoder_layers = 0;  ///< over the graph of all lights; 0: none
  std::int64_t node_features = 1;   ///< of a light in that graph
};

/// The greens of B lights, one light's after the other's; R greens, F features.
struct SignalInput {
  torch::Tensor rows;       ///< [R, F] float32
  torch::Tensor light;      ///< [R] int64, ascending: to which of the B lights each belongs
  torch::Tensor present;    ///< [B] int64: the row of the green that is shown
  GraphBatch graph = {};    ///< of an encoder: all lights, also those that are not among the B
  torch::Tensor node = {};  ///< [B] int64: which of its nodes each light is
};

struct SignalOutput {
  torch::Tensor logits;  ///< [R]
  torch::Tensor values;  ///< [B]
};

/// Two tanh layers on each green; its logit is seen beside the mean over the light's greens and the
/// present one; the value is that of their mean and maximum. What a light gets does not depend on
/// the order of its greens, nor on the lights beside it.
///
/// With an encoder the first layer of each green sees beside its features what attention over the
/// graph of all lights makes of its light, through a product that begins at zero: such a network
/// begins as the one without.
///
/// A rule, linear in the features, is added to the logits and learned on with the rest: where the
/// network begins, and what it falls back on where it has learned nothing.
class SignalNetworkImpl : public torch::nn::Module {
 public:
  explicit SignalNetworkImpl(const SignalNetworkShape& shape);

  SignalOutput forward(const SignalInput& in);
  /// Initial weights, from the seed; the logits begin almost at those of the rule alone.
  /// @param rule [F]
  void reset(std::uint64_t seed, const torch::Tensor& rule);
  /// For weights that do not change any more.
  void pack_for_inference();

 private:
  torch::nn::Linear first_;
  torch::nn::Linear second_;
  torch::nn::Linear choice_;
  torch::nn::Linear logit_;
  torch::nn::Linear rule_;
  torch::nn::Linear state_;
  torch::nn::Linear value_;
  GraphEncoder encoder_{nullptr};      ///< null: none
  torch::nn::Linear around_{nullptr};  ///< from an encoding to the first layer
};
TORCH_MODULE(SignalNetwork);

}  // namespace traffic::model
