/// The arithmetic of one Adam update with tensor operations, for devices other than the CPU.
#pragma once

#include <ATen/core/Tensor.h>

namespace traffic::train {

/// The numbers of one update.
struct AdamCoefficients {
  float gradient_scale;
  float weight_decay;
  float beta1;
  float beta2;
  float step_size;      ///< learning rate / first bias correction
  float second_moment;  ///< 1 / sqrt(second bias correction)
  float eps;
};

/// Performs the update with tensor operations on any device. All tensors are flat, float32 and of
/// equal size.
void adam_by_operations(const at::Tensor& parameters, const at::Tensor& gradients,
                        const at::Tensor& exp_avg, const at::Tensor& exp_avg_sq,
                        const AdamCoefficients& c);

}  // namespace traffic::train
