/// Risk-sensitive attention: each node of a graph attends to the nodes from which edges lead to it.
/// Shapes: N nodes, E edges, d channels of all heads together.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "traffic/model/graph_batch.h"

namespace traffic::model {

/// Parameters that are applied to edge features. A linear map of the features shifts keys and
/// values; a small MLP of them shifts scores (the risk bias).
struct EdgeParameters {
  at::Tensor edge_weight;      ///< [d, 4]
  at::Tensor risk_in_weight;   ///< [32, 4]
  at::Tensor risk_in_bias;     ///< [32]
  at::Tensor risk_out_weight;  ///< [heads, 32]
  at::Tensor risk_out_bias;    ///< [heads]
};

// clang-format off
/// For every node i and head h, with edges e from j to i that have features f:
///   score = q_i . (k_j + W f) / sqrt(d / heads) + risk(f)
///   out_i = sum of softmax(score) * (v_j + W f)
/// The softmax is taken over the incoming edges of i. A node without incoming edges gets zero.
// clang-format on
///
/// This is the implementation with ATen operations, for any device and any floating type. The fused
/// layers on the CPU (encoder_layer.h) and the kernels on GPUs (device/) compute the same without
/// forming an [E, d] matrix.
/// @param qkv [N, 3 d]: first the queries of all heads, then the keys, then the values
/// @return [N, d], of the type of qkv
at::Tensor segment_attention(const at::Tensor& qkv, const GraphBatch& graph,
                             const EdgeParameters& parameters, std::int64_t heads);

}  // namespace traffic::model
