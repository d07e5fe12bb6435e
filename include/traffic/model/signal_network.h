/// SignalNetwork, the network of the policy for traffic lights. It scores the greens (green phases)
/// of a light from their features, and estimates the value of the light's state. All lights share
/// one network, whatever their number of greens.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

#include "traffic/model/graph_batch.h"
#include "traffic/model/graph_encoder.h"

namespace traffic::model {

/// Sizes of a SignalNetwork.
struct SignalNetworkShape {
  std::int64_t features = 1;        ///< number of features of a green
  std::int64_t hidden_dim = 48;     ///< width of all layers
  std::int64_t encoder_layers = 0;  ///< layers of the encoder of the graph of lights; 0 means that
                                    ///< there is no encoder
  std::int64_t node_features = 1;   ///< number of features of a light in that graph
};

/// The R greens of B lights, light by light, with F features each.
struct SignalInput {
  torch::Tensor rows;       ///< [R, F] float32
  torch::Tensor light;      ///< [R] int64, ascending: index (0 .. B - 1) of the light that a green
                            ///< belongs to
  torch::Tensor present;    ///< [B] int64: row of the green that the light currently shows
  GraphBatch graph = {};    ///< input of the encoder; its nodes are all lights of the road network
  torch::Tensor node = {};  ///< [B] int64: node of each light in the graph
};

struct SignalOutput {
  torch::Tensor logits;  ///< [R] score of each green
  torch::Tensor values;  ///< [B] value of each light's state
};

/// Two tanh layers compute hidden features of each green. The logit of a green depends on its own
/// hidden features, on their mean over the light's greens, and on those of the current green. The
/// value of a light depends on the mean and the maximum over its greens. The order of the greens
/// does not matter.
///
/// With an encoder, the first layer also reads an encoding of the light, computed by attention over
/// the graph of all lights. The weights of this input start at zero, so the network initially
/// computes the same as without an encoder. Without an encoder, the output for a light does not
/// depend on other lights.
///
/// Each logit also contains a rule, a linear function of the green's features, whose weights are
/// trained as well. The other terms start near zero, so an untrained network acts by the rule.
class SignalNetworkImpl : public torch::nn::Module {
 public:
  explicit SignalNetworkImpl(const SignalNetworkShape& shape);

  SignalOutput forward(const SignalInput& in);
  /// Sets the initial weights from the seed. The initial logits are almost exactly those of the
  /// rule.
  /// @param rule [F] weights of the rule
  void reset(std::uint64_t seed, const torch::Tensor& rule);
  /// Prepares weights that no longer change for faster inference.
  void pack_for_inference();

 private:
  torch::nn::Linear first_;
  torch::nn::Linear second_;
  torch::nn::Linear choice_;
  torch::nn::Linear logit_;
  torch::nn::Linear rule_;
  torch::nn::Linear state_;
  torch::nn::Linear value_;
  GraphEncoder encoder_{nullptr};      ///< null if SignalNetworkShape::encoder_layers is 0
  torch::nn::Linear around_{nullptr};  ///< from a light's encoding to the first layer
};
TORCH_MODULE(SignalNetwork);

}  // namespace traffic::model
