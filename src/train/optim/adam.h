/// The optimiser Adam on one flat tensor that contains all parameters of a model (an arena). A
/// single loop scales the gradient and updates moments and parameters.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace traffic::train {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.0;  ///< L2 penalty added to the gradient, as in torch.optim.Adam
};

/// Owns the moments of one flat parameter tensor. Not thread-safe.
/// Source: Kingma and Ba 2015, arXiv:1412.6980, algorithm 1.
class Adam {
 public:
  /// @param parameters [P] float32, contiguous; Adam keeps this tensor and updates it in place
  /// @throws ShapeError if the tensor is not flat, float32 and contiguous
  Adam(at::Tensor parameters, AdamOptions options);

  /// Makes one update with gradient * gradient_scale. This factor is used for clipping and loss
  /// scaling, which therefore need no loop of their own over the gradient.
  /// @param gradients [P] float32 on the parameters' device; not changed
  void step(const at::Tensor& gradients, double learning_rate, double gradient_scale);

  /// Number of updates so far.
  [[nodiscard]] std::int64_t num_steps() const { return num_steps_; }
  [[nodiscard]] const at::Tensor& exp_avg() const { return exp_avg_; }
  [[nodiscard]] const at::Tensor& exp_avg_sq() const { return exp_avg_sq_; }
  /// Restores a saved state; its shapes must equal those of the parameters.
  void restore(const at::Tensor& exp_avg, const at::Tensor& exp_avg_sq, std::int64_t num_steps);

 private:
  at::Tensor parameters_;
  at::Tensor exp_avg_;
  at::Tensor exp_avg_sq_;
  AdamOptions options_;
  std::int64_t num_steps_ = 0;
};

}  // namespace traffic::train
