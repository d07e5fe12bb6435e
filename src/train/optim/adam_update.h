/// The arithmetic of one Adam update.
#pragma once

#include <ATen/core/Tensor.h>

namespace traffic::train {

struct AdamCoefficients {
  float gradient_scale;
  float weight_decay;
  float beta1;
  float beta2;
  float step_size;      ///< learning rate / first bias correction
  float second_moment;  ///< 1 / sqrt(second bias correction)
  float eps;
};

/// Out of tensor operations, for any device; tensors are flat, float32 and of one size.
void adam_by_operations(const at::Tensor& parameters, const at::Tensor& gradients,
                        const at::Tensor& exp_avg, const at::Tensor& exp_avg_sq,
                        const AdamCoefficients& c);

}  // namespace traffic::train
