/// An LSTM for tensors on GPUs. In each step ATen computes the matrix products, and one kernel
/// computes everything else. A step thus launches two kernels in the forward pass and two in the
/// backward pass. With single operations of ATen a step would launch some sixty kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "../lstm_passes.h"
#include "lstm_kernels.h"

namespace traffic::model::device {

/// Forward pass over a sequence, without gradients. Parameters, state and results are float32.
/// @param type type of the products: float32, bfloat16 or float16
LstmOutput device_lstm(const LstmInput& input, const std::vector<LstmLayerParameters>& layers,
                       at::ScalarType type, const LstmKernels& kernels);

/// LstmOutput::last of a sequence from a zero state, with gradients for x and the parameters.
/// @param present see LstmInput::present
/// @param parameters parameters of all layers in sequence
at::Tensor differentiable_lstm(const at::Tensor& x, const at::Tensor& present,
                               at::TensorList parameters, at::ScalarType type,
                               const LstmKernels& kernels);

}  // namespace traffic::model::device
