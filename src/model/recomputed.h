/// Gradient checkpointing of a function of tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace traffic::model {

using TensorFunction = std::function<at::Tensor(at::TensorList)>;

/// function(inputs), of which autograd keeps nothing but the inputs: the backward pass computes it
/// again. The function must give the same result each time, so it must not draw random numbers.
at::Tensor recomputed(const TensorFunction& function, at::TensorList inputs);

}  // namespace traffic::model
