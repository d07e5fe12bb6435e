/// Gradient checkpointing of a function of tensors: it takes less memory and more time.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace traffic::model {

using TensorFunction = std::function<at::Tensor(at::TensorList)>;

/// Calls function(inputs); autograd keeps only the inputs, and the backward pass calls the function
/// again. The function must return the same result each time, so it must not draw random numbers.
at::Tensor recomputed(const TensorFunction& function, at::TensorList inputs);

}  // namespace traffic::model
