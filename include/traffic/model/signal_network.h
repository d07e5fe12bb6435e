/// The network of traffic lights: from what is seen of each green to how good it is. One for all
/// lights, whatever their number of greens.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

namespace traffic::model {

/// The greens of B lights, one light's after the other's; R greens, F features.
struct SignalInput {
  torch::Tensor rows;     ///< [R, F] float32
  torch::Tensor light;    ///< [R] int64, ascending: to which of the B lights each belongs
  torch::Tensor present;  ///< [B] int64: the row of the green that is shown
};

struct SignalOutput {
  torch::Tensor logits;  ///< [R]
  torch::Tensor values;  ///< [B]
};

/// Two tanh layers on each green; its logit is seen beside the mean over the light's greens and the
/// present one; the value is that of their mean and maximum. What a light gets does not depend on
/// the order of its greens, nor on the lights beside it.
///
/// A rule, linear in the features, is added to the logits and learned on with the rest: where the
/// network begins, and what it falls back on where it has learned nothing.
class SignalNetworkImpl : public torch::nn::Module {
 public:
  /// @param features of a green
  SignalNetworkImpl(std::int64_t features, std::int64_t hidden_dim);

  SignalOutput forward(const SignalInput& in);
  /// Initial weights, from the seed; the logits begin almost at those of the rule alone.
  /// @param rule [F]
  void reset(std::uint64_t seed, const torch::Tensor& rule);

 private:
  torch::nn::Linear first_;
  torch::nn::Linear second_;
  torch::nn::Linear choice_;
  torch::nn::Linear logit_;
  torch::nn::Linear rule_;
  torch::nn::Linear state_;
  torch::nn::Linear value_;
};
TORCH_MODULE(SignalNetwork);

}  // namespace traffic::model
