/// Mlp, a perceptron with ReLU layers and a linear output. Off-policy learners use it for policies
/// and critics, and DrivingNetwork for parts of itself.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

namespace traffic::model {

/// Widths of the layers of an Mlp.
struct MlpShape {
  std::int64_t inputs = 1;
  std::vector<std::int64_t> hidden = {};  ///< width of each hidden layer
  std::int64_t outputs = 1;
};

/// In float32 on the CPU the network is one node of the autograd graph and uses kernels for small
/// matrices. The output of a row then does not depend on the other rows. In all other cases the
/// network uses ATen operations.
class MlpImpl : public torch::nn::Module {
 public:
  explicit MlpImpl(const MlpShape& shape);

  [[nodiscard]] const MlpShape& shape() const { return shape_; }
  /// Differentiable with respect to the parameters and x.
  /// @param x [B, inputs] contiguous
  /// @return [B, outputs]
  torch::Tensor forward(const torch::Tensor& x) { return run(x, /*trains=*/true); }
  /// Computes the same as forward(), but is differentiable with respect to x only. It is used to
  /// train another network whose output is x.
  torch::Tensor forward_frozen(const torch::Tensor& x) { return run(x, /*trains=*/false); }

 private:
  torch::Tensor run(const torch::Tensor& x, bool trains);

  MlpShape shape_;
  std::vector<torch::nn::Linear> layers_;
};
TORCH_MODULE(Mlp);

}  // namespace traffic::model
