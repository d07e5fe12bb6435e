/// The projection of a thin input to queries, keys and values, forward and backward. A thin input
/// is one of known low rank (encoder_layer.h). The rank is the number of columns of
/// ThinInput::rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "encoder_layer.h"

namespace traffic::model {

/// Multiplies the weight of queries, keys and values by the basis of the thin input.
ThinProjection project_thin(const ThinBasis& thin, const LayerParameters& parameters);

/// The gradients in a group of nodes, from which ThinGradients computes further gradients.
struct ThinGroup {
  std::int64_t index;                   ///< number of the group
  std::int64_t first;                   ///< first node
  std::int64_t rows;                    ///< number of nodes
  kernels::Rows<const float> grad_qkv;  ///< [rows, 3 d]
  kernels::Rows<const float> grad_x;    ///< [rows, d] gradient of x through the residual connection
};

/// The backward pass of the projection, and of the product that computes x from the factors of the
/// thin input. It sums over the nodes of each group, then over the groups in their order, so that
/// the result does not depend on the number of threads.
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
  at::Tensor grad_basis_;           ///< [groups, rank, d] through the residual connection
  at::Tensor grad_offset_;          ///< [groups, d] through the residual connection
};

}  // namespace traffic::model
