/// The first operation of the encoder, h = LayerNorm(W x + b), with frozen parameters: one product
/// and one loop over its rows.
#pragma once

#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include "gemm.h"

namespace traffic::model {

struct InputProjection {
  at::Tensor weight;  ///< W^T, [features, d]
  Operand<float> operand;
  at::Tensor bias;
  at::Tensor gamma;
  at::Tensor beta;
};

/// @param input its number of outputs must be a multiple of kernels::kWidthUnit; float32 on the CPU
InputProjection pack_input(const torch::nn::LinearImpl& input,
                           const torch::nn::LayerNormImpl& norm);

/// @param features [N, features] float32 on the CPU
/// @return [N, d]
at::Tensor project_input(const at::Tensor& features, const InputProjection& packed);

}  // namespace traffic::model
