/// CostCritic, the value function of costs in phase 3 of training: a network that predicts the
/// future safety cost of a conflict (a place where streams of traffic meet).
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

#include "traffic/config/config.h"

namespace traffic::model {

/// A perceptron. Its inputs are the features of a conflict.
class CostCriticImpl : public torch::nn::Module {
 public:
  /// @param inputs number of columns of a conflict
  CostCriticImpl(const config::Lagrange& sizes, std::int64_t inputs);

  /// Sets the initial parameters, which depend on the seed alone; the weights of the last layer
  /// start small. Call it after the constructor.
  void reset(std::uint64_t seed);

  /// @param conflicts [N, inputs]
  /// @return [N] in standardised units (rl/running_mean_std.h)
  torch::Tensor forward(const torch::Tensor& conflicts);

 private:
  std::vector<torch::nn::Linear> hidden_;
  torch::nn::Linear value_{nullptr};
};
TORCH_MODULE(CostCritic);

}  // namespace traffic::model
