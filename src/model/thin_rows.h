/// The rows of the encoder's thin input (encoder_layer.h).
#pragma once

#include <ATen/core/Tensor.h>

namespace traffic::model {

/// rows = x / sqrt(x gram x^T + kNormEps), row by row; differentiable in gram only. Its gradient is
/// a sum over all nodes, taken in their order, so that it does not depend on threads as that of a
/// matrix product may.
/// @param x [N, R] float32; @param gram [R, R] float32
at::Tensor thin_rows(const at::Tensor& x, const at::Tensor& gram);

}  // namespace traffic::model
