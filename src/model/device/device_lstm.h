/// An LSTM for tensors on GPUs: the products of a step by ATen, all else of it in one kernel. A
/// step launches two kernels forward and two backward, whatever the number of vehicles, where the
/// operations one by one would take some sixty.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "../lstm_passes.h"
#include "lstm_kernels.h"

namespace traffic::model::device {

/// The pass over a sequence, without gradients. Parameters, state and results are float32.
/// @param type of the products: float32, bfloat16 or float16
LstmOutput device_lstm(const LstmInput& input, const std::vector<LstmLayerParameters>& layers,
                       at::ScalarType type, const LstmKernels& kernels);

/// LstmOutput::last of a sequence from the zero state, with gradients of x and the parameters.
/// @param parameters those of the layers one behind the other
/// @param present as LstmInput::present
at::Tensor differentiable_lstm(const at::Tensor& x, const at::Tensor& present,
                               at::TensorList parameters, at::ScalarType type,
                               const LstmKernels& kernels);

}  // namespace traffic::model::device
