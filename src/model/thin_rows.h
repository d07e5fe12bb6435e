/// Expresses the input of the graph encoder's first layer, LayerNorm(W x + b), as a thin input,
/// i.e. as a product with a small number of columns (encoder_layer.h). This is possible because,
/// apart from a factor for each row, LayerNorm(W x + b) is linear in (x, 1), the features of a node
/// followed by a 1.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include "encoder_layer.h"

namespace traffic::model {

/// Quantities that depend on the parameters alone; differentiable with respect to them.
struct ThinForm {
  at::Tensor gram;  ///< [F + 1, F + 1]: (x, 1) gram (x, 1)^T is the variance of W x + b
  ThinBasis of;     ///< basis and offset of the thin input
};
/// Computes these quantities from the parameters of the input layer and its LayerNorm.
ThinForm thin_form(torch::nn::LinearImpl& input, torch::nn::LayerNormImpl& norm);

/// Computes the thin input for the features of N nodes. Differentiable with respect to the form
/// only.
/// @param features [N, F] float32
ThinInput thin_input(const at::Tensor& features, const ThinForm& form);

}  // namespace traffic::model
