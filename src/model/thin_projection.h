/// The projection of a thin input (encoder_layer.h), forward and backward.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "encoder_layer.h"

namespace traffic::model {

ThinProjection project_thin(const ThinBasis& thin, const LayerParameters& parameters);

/// Gradients of a group of nodes: `rows` nodes starting with `first`.
struct ThinGroup {
  std::int64_t index;
  std::int64_t first;
  std::int64_t rows;
  kernels::Rows<const float> grad_qkv;  ///< [rows, 3 d]
  kernels::Rows<const float> grad_x;    ///< [rows, d] the residual's share
};

/// The backward pass of the projection and of x itself. Sums over nodes are taken by groups, in the
/// order of the groups, so that they do not depend on the number of threads.
class ThinGradients {
 public:
  ThinGradients(const ThinInput& input, const LayerParameters& parameters, std::int64_t groups);

  /// Different threads may add different groups.
  void add_group(const ThinGroup& group);
  /// Computes grads.thin and the gradient of the weight. `grads` must contain the gradient of the
  /// bias.
  void finish(LayerGradients& grads) const;

 private:
  ThinInput input_;
  at::Tensor qkv_weight_;
  PackedWeight<float> transposed_;  ///< [3 d, rank] as an operand
  PackedWeight<float> basis_;       ///< [d, rank] as an operand
  at::Tensor grad_rows_;            ///< [N, rank]
  at::Tensor grad_weight_;          ///< [groups, rank, 3 d]
  at::Tensor grad_basis_;           ///< [groups, rank, d] the residual's share
  at::Tensor grad_offset_;          ///< [groups, d] the residual's share
};

}  // namespace traffic::model
