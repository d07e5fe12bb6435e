/// Layers max(0, x W^T + b) with a linear one at the end: the networks of off-policy learners.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

namespace traffic::model {

struct MlpShape {
  std::int64_t inputs = 1;
  std::vector<std::int64_t> hidden = {};  ///< widths
  std::int64_t outputs = 1;
};

/// In float32 on the CPU one node of the autograd graph over the kernels for small matrices; a
/// row's output does not depend on the rows beside it. Elsewhere ATen operations.
class MlpImpl : public torch::nn::Module {
 public:
  explicit MlpImpl(const MlpShape& shape);

  [[nodiscard]] const MlpShape& shape() const { return shape_; }
  /// Differentiable in parameters and x.
  /// @param x [B, inputs] contiguous
  /// @return [B, outputs]
  torch::Tensor forward(const torch::Tensor& x) { return run(x, /*trains=*/true); }
  /// Differentiable in x only: what a gradient passes through on its way to another network.
  torch::Tensor forward_frozen(const torch::Tensor& x) { return run(x, /*trains=*/false); }

 private:
  torch::Tensor run(const torch::Tensor& x, bool trains);

  MlpShape shape_;
  std::vector<torch::nn::Linear> layers_;
};
TORCH_MODULE(Mlp);

}  // namespace traffic::model
