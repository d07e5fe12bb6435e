/// Queries, keys and values of a thin input x = rows * basis + offset: rows * (basis W^T) + (offset
/// W^T + b). With the nine features of a vehicle the product has depth 16 and not d.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "encoder_layer.h"

namespace traffic::model {

class ThinProjection {
 public:
  ThinProjection(const ThinInput& input, const LayerParameters& parameters);

  [[nodiscard]] std::int64_t rank() const { return input_.rows.size(1); }
  [[nodiscard]] kernels::Rows<const float> rows(std::int64_t first) const {
    return {input_.rows.const_data_ptr<float>() + first * rank(), rank()};
  }
  /// [rank, 3 d] in panels
  [[nodiscard]] const Operand<float>& weight() const { return weight_.operand; }
  [[nodiscard]] const float* bias() const { return bias_.const_data_ptr<float>(); }

 private:
  ThinInput input_;
  PackedWeight<float> weight_;
  at::Tensor bias_;  ///< [3 d]
};

/// What a group of nodes leaves: `rows` nodes from `first` on.
struct ThinGroup {
  std::int64_t index;
  std::int64_t first;
  std::int64_t rows;
  kernels::Rows<const float> grad_qkv;  ///< [rows, 3 d]
  kernels::Rows<const float> grad_x;    ///< [rows, d] the residual's share
};

/// The backward pass of a ThinProjection and of x itself. Sums over nodes are taken by groups, in
/// their order, so that they do not depend on threads.
class ThinGradients {
 public:
  ThinGradients(const ThinInput& input, const LayerParameters& parameters, std::int64_t groups);

  /// Different threads may add different groups.
  void add_group(const ThinGroup& group);
  /// Fills grads.thin and the gradient of the weight. `grads` must have that of the bias.
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
