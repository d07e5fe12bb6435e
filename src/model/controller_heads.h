/// The heads (output layers) of a controller with categorical commands: the logits of the commands,
/// and the score by which candidates are selected. On the CPU they are one node of the autograd
/// graph, which takes less time than a node for each operation.
#pragma once

#include <ATen/core/Tensor.h>

namespace traffic::model {

/// Shapes: M candidates, A commands.
struct HeadParameters {
  at::Tensor command_weight;     ///< [A, width]
  at::Tensor command_bias;       ///< [A]
  at::Tensor importance_weight;  ///< [1, width]
  at::Tensor impact_weight;      ///< [1, latents]; undefined if the score has no impact term
};

/// Factors of the two terms of the score.
struct HeadScales {
  double importance = 1.0;
  double impact = 0.0;
};

struct HeadOutputs {
  at::Tensor commands;  ///< [M, A] logits
  at::Tensor score;     ///< [M]
};

/// Computes commands = x W^T + b and score = s * (x . w + o) + t * (latents . v). W and b are
/// command_weight and command_bias, w is importance_weight, and v is impact_weight. s and t are the
/// scales of importance and impact. o is the log-odds of any command but the first ("none").
/// @param x [M, width] differentiated
/// @param latents [M, latents] not differentiated; undefined if the score has no impact term
HeadOutputs controller_heads(const at::Tensor& x, const at::Tensor& latents,
                             const HeadParameters& parameters, const HeadScales& scales);

/// Computes the same with ATen operations.
HeadOutputs controller_heads_by_operations(const at::Tensor& x, const at::Tensor& latents,
                                           const HeadParameters& parameters,
                                           const HeadScales& scales);

}  // namespace traffic::model
