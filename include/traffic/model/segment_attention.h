/// Risk-sensitive attention over the in-edges of each node, on packed graphs.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "traffic/model/graph_batch.h"

namespace traffic::model {

/// What edge features do: they shift keys and values by a linear map, and scores by a small MLP
/// (the risk bias).
struct EdgeParameters {
  at::Tensor edge_weight;      ///< [d, 4]
  at::Tensor risk_in_weight;   ///< [32, 4]
  at::Tensor risk_in_bias;     ///< [32]
  at::Tensor risk_out_weight;  ///< [heads, 32]
  at::Tensor risk_out_bias;    ///< [heads]
};

/// For every node i and head h, with edges e from j to i and their features f:
///   score = q_i . (k_j + W f) / sqrt(d / heads) + risk(f),  out_i = sum of softmax(score) * (v_j +
///   W f),
/// the softmax over the in-edges of i. A node without in-edges gets zero. Differentiable in qkv and
/// the parameters, not in the edge features. On the CPU in float32, with at most 16 heads of a
/// multiple of 16 channels, one fused operation that forms no [E, d] matrix; else
/// segment_attention_reference.
/// @param qkv [N, 3 d]: queries, keys and values, each by heads
/// @return [N, d], of the type of qkv
/// @throws ShapeError if sizes do not fit each other
at::Tensor segment_attention(const at::Tensor& qkv, const GraphBatch& graph,
                             const EdgeParameters& parameters, std::int64_t heads);

/// The same in ATen operations, on any device and in any floating type.
at::Tensor segment_attention_reference(const at::Tensor& qkv, const GraphBatch& graph,
                                       const EdgeParameters& parameters, std::int64_t heads);

}  // namespace traffic::model
