/// Converts the tensors of an encoder layer to the arguments of the attention kernels on the CPU
/// (kernels/kernels.h), which are plain pointers.
#pragma once

#include <ATen/core/Tensor.h>

#include "edge_index.h"
#include "kernels/kernels.h"
#include "segment_attention.h"

namespace traffic::model {

/// EdgeParameters (segment_attention.h) in the layout that the kernels read; d is the width of a
/// layer.
class PackedEdgeParameters {
 public:
  PackedEdgeParameters(const EdgeParameters& parameters, std::int64_t heads);

  /// Returns arguments for the edges of `index`. They point into this object and into the index.
  [[nodiscard]] kernels::AttentionEdges with(const EdgeIndex& index) const;

 private:
  std::int64_t heads_;
  at::Tensor edge_weight_;    ///< [4, d]
  at::Tensor risk_in_;        ///< [4, kRiskHidden]
  at::Tensor risk_in_bias_;   ///< [kRiskHidden]
  at::Tensor risk_out_;       ///< [kRiskHidden, kMaxHeads]
  at::Tensor risk_out_bias_;  ///< [1, kMaxHeads]
};

/// Gradients of EdgeParameters, summed separately for each group of nodes, so that the total does
/// not depend on the number of threads.
class AttentionGradients {
 public:
  AttentionGradients(std::int64_t groups, std::int64_t width, std::int64_t heads);
  /// Pointers to the sums of group g, to which the kernels add.
  [[nodiscard]] kernels::AttentionSums group(std::int64_t g) const;
  /// The sums over all groups.
  [[nodiscard]] EdgeParameters total() const;

 private:
  std::int64_t width_;
  std::int64_t heads_;
  at::Tensor sums_;  ///< [groups, all sums of one group]
};

/// Runs the backward pass of attention for one group of nodes (group_nodes() in edge_index.h). Adds
/// the gradients of the parameters to `gradients`.
void attention_backward(const kernels::AttentionBackward& args, const EdgeIndex& index,
                        std::int64_t group, const AttentionGradients& gradients);

}  // namespace traffic::model
