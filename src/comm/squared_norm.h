#pragma once

#include <ATen/core/Tensor.h>

namespace traffic::comm {

/// Sum of squares in float64; equal tensors on equal devices give equal bits.
/// @param tensor float32, contiguous
double squared_norm(const at::Tensor& tensor);

}  // namespace traffic::comm
