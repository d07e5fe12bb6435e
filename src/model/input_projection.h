/// The first operation of the graph encoder, h = LayerNorm(W x + b), for parameters that no longer
/// change: one matrix product and one loop over its rows.
#pragma once

#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include "gemm.h"

namespace traffic::model {

/// The parameters in the layout that project_input() reads.
struct InputProjection {
  at::Tensor weight;       ///< W^T, [features, d]
  Operand<float> operand;  ///< `weight` as the right-hand side of a product
  at::Tensor bias;         ///< b, [d]
  at::Tensor gamma;        ///< scale of the LayerNorm, [d]
  at::Tensor beta;         ///< shift of the LayerNorm, [d]
};

/// @param input its number of outputs must be a multiple of kernels::kWidthUnit; float32 on the CPU
InputProjection pack_input(const torch::nn::LinearImpl& input,
                           const torch::nn::LayerNormImpl& norm);

/// Computes h.
/// @param features x, [N, features] float32 on the CPU
/// @return [N, d]
at::Tensor project_input(const at::Tensor& features, const InputProjection& packed);

}  // namespace traffic::model
