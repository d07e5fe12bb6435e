/// GraphBatch, the input of the graph encoder: several graphs packed into one. It contains the
/// nodes of all graphs in sequence, and their edges sorted by destination.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace traffic::model {

/// N nodes, E edges, F features per node. The boundaries between graphs are not stored, because
/// nodes of different graphs have no common edge.
struct GraphBatch {
  at::Tensor node_features;  ///< [N, F] float32, normalised
  at::Tensor edge_ptr;  ///< [N + 1] int32: edges edge_ptr[i] to edge_ptr[i + 1] - 1 lead to node i
  at::Tensor edge_src;  ///< [E] int32: source node of the edge
  at::Tensor edge_features;  ///< [E, 4] float32, normalised

  [[nodiscard]] std::int64_t num_nodes() const { return node_features.size(0); }
  [[nodiscard]] std::int64_t num_edges() const { return edge_src.size(0); }
};

/// @throws ShapeError if shapes, types or devices do not match; on the CPU also if edge_ptr does
///   not increase from 0 to E or an edge_src is not a node
void check_graph(const GraphBatch& graph);

}  // namespace traffic::model
