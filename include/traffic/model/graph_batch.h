/// The graphs that an encoder reads, packed: nodes of all graphs in a row, edges by destination.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace traffic::model {

/// N nodes, E edges, F features. Any number of graphs may be packed; nothing but the edges joins
/// nodes.
struct GraphBatch {
  at::Tensor node_features;  ///< [N, F] float32, normalised
  at::Tensor edge_ptr;  ///< [N + 1] int32: in-edges of node i are edge_ptr[i] .. edge_ptr[i + 1]
  at::Tensor edge_src;  ///< [E] int32: node at the tail
  at::Tensor edge_features;  ///< [E, 4] float32, normalised

  [[nodiscard]] std::int64_t num_nodes() const { return node_features.size(0); }
  [[nodiscard]] std::int64_t num_edges() const { return edge_src.size(0); }
};

/// @throws ShapeError for shapes, types or devices that do not fit each other, and on the CPU for
/// an edge_ptr that
///     does not rise from 0 to E or a source that is no node
void check_graph(const GraphBatch& graph);

}  // namespace traffic::model
