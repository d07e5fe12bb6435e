/// The cost critic: predicts the future cost of a state; the learned part of the safety shield.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

#include "traffic/config/config.h"

namespace traffic::model {

/// A perceptron over the pooled features of a conflict.
class CostCriticImpl : public torch::nn::Module {
 public:
  /// @param inputs columns of a conflict
  CostCriticImpl(const config::Lagrange& sizes, std::int64_t inputs);

  /// Sets the initial parameters, which depend on the seed alone; the last layer starts small. This
  /// is not part of the constructor, because a module under construction has no owner yet.
  void reset(std::uint64_t seed);

  /// @param conflicts [N, inputs]
  /// @return [N] in standardised units
  torch::Tensor forward(const torch::Tensor& conflicts);

 private:
  std::vector<torch::nn::Linear> hidden_;
  torch::nn::Linear value_{nullptr};
};
TORCH_MODULE(CostCritic);

}  // namespace traffic::model
