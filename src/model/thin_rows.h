/// The input of the encoder, LayerNorm(W x + b), as a thin input (encoder_layer.h): apart from the
/// scale of each row it is linear in (x, 1).
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include "encoder_layer.h"

namespace traffic::model {

/// Quantities that depend on the parameters alone; differentiable with respect to them.
struct ThinForm {
  at::Tensor gram;  ///< [F + 1, F + 1]: (x, 1) gram (x, 1)^T is the variance of W x + b
  ThinBasis of;
};
ThinForm thin_form(torch::nn::LinearImpl& input, torch::nn::LayerNormImpl& norm);

/// Differentiable with respect to the form only.
/// @param features [N, F] float32
ThinInput thin_input(const at::Tensor& features, const ThinForm& form);

}  // namespace traffic::model
