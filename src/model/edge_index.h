/// The edges of a packed graph from both sides.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "traffic/model/graph_batch.h"

namespace traffic::model {

/// Edges by destination (as they come) and, for the backward pass, by source. One for all layers of
/// a forward pass.
struct EdgeIndex {
  at::Tensor edge_ptr;       ///< [N + 1] int32
  at::Tensor edge_src;       ///< [E] int32
  at::Tensor edge_features;  ///< [E, 4] float32
  at::Tensor edge_dst;       ///< [E] int32; undefined if not asked for, as the two below
  at::Tensor out_ptr;        ///< [N + 1] int32: out-edges of a node, positions in out_edge
  at::Tensor out_edge;       ///< [E] int32: index of an edge; ascending for each node
  std::vector<std::int64_t> group_ptr;  ///< [G + 1], see group_nodes

  [[nodiscard]] std::int64_t num_nodes() const { return edge_ptr.size(0) - 1; }
  [[nodiscard]] std::int64_t num_edges() const { return edge_src.size(0); }
  [[nodiscard]] std::int64_t num_groups() const {
    return static_cast<std::int64_t>(group_ptr.size()) - 1;
  }
};

inline constexpr std::int64_t kGroupNodes = 128;

/// Nodes in groups that no edge joins, of kGroupNodes nodes or little more where the graph allows
/// it: group g is nodes group_ptr[g] .. group_ptr[g + 1]. A layer works through one group after the
/// other, in the cache.
/// @return [G + 1] group_ptr
std::vector<std::int64_t> group_nodes(const GraphBatch& graph);

/// CPU graphs only. @param by_source also fill what the backward pass needs
EdgeIndex make_edge_index(const GraphBatch& graph, bool by_source);

/// Node of each edge's head, [E] int64, on the graph's device.
at::Tensor edge_destinations(const at::Tensor& edge_ptr, std::int64_t num_edges);

}  // namespace traffic::model
