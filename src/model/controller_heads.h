/// The heads of the categorical controller, as one node of the autograd graph on the CPU.
#pragma once

#include <ATen/core/Tensor.h>

namespace traffic::model {

/// Shapes: M candidates, A commands.
struct HeadParameters {
  at::Tensor command_weight;     ///< [A, width]
  at::Tensor command_bias;       ///< [A]
  at::Tensor importance_weight;  ///< [1, width]
  at::Tensor impact_weight;      ///< [1, latents]; undefined: no impact
};

/// Weights of the two parts of the score (ControllerImpl).
struct HeadScales {
  double importance = 1.0;
  double impact = 0.0;
};

struct HeadOutputs {
  at::Tensor commands;  ///< [M, A] logits
  at::Tensor score;     ///< [M]
};

/// commands = x W^T + b; score = importance * (x . w + log-odds of any command but the first) +
/// impact * (latents . v). W and b are command_weight and command_bias, w is importance_weight and
/// v is impact_weight.
/// @param x [M, width] differentiated
/// @param latents [M, latents] not differentiated; undefined: no impact
HeadOutputs controller_heads(const at::Tensor& x, const at::Tensor& latents,
                             const HeadParameters& parameters, const HeadScales& scales);

/// Computes the same with ATen operations.
HeadOutputs controller_heads_by_operations(const at::Tensor& x, const at::Tensor& latents,
                                           const HeadParameters& parameters,
                                           const HeadScales& scales);

}  // namespace traffic::model
