/// Sum of the squares of a tensor, for the norm of the gradient.
#pragma once

#include <ATen/core/Tensor.h>

namespace traffic::comm {

/// Sum of squares in float64. Equal tensors on equal devices give equal bits.
/// @param tensor float32, contiguous
double squared_norm(const at::Tensor& tensor);

}  // namespace traffic::comm
