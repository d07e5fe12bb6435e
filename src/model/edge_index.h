/// The edges of a packed graph by destination and by source.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "traffic/model/graph_batch.h"

namespace traffic::model {

/// Edges by destination (their given order) and, for the backward pass, by source. All layers of a
/// forward pass share one object.
struct EdgeIndex {
  at::Tensor edge_ptr;       ///< [N + 1] int32
  at::Tensor edge_src;       ///< [E] int32
  at::Tensor edge_features;  ///< [E, 4] float32
  at::Tensor edge_dst;       ///< [E] int32; undefined without by_source, like out_ptr and out_edge
  at::Tensor out_ptr;   ///< [N + 1] int32: ranges of out_edge with the outgoing edges of a node
  at::Tensor out_edge;  ///< [E] int32: index of an edge; ascending for each node
  std::vector<std::int64_t> group_ptr;  ///< [G + 1], see group_nodes

  [[nodiscard]] std::int64_t num_nodes() const { return edge_ptr.size(0) - 1; }
  [[nodiscard]] std::int64_t num_edges() const { return edge_src.size(0); }
  [[nodiscard]] std::int64_t num_groups() const {
    return static_cast<std::int64_t>(group_ptr.size()) - 1;
  }
};

inline constexpr std::int64_t kGroupNodes = 128;

/// Divides the nodes into groups that no edge connects, of kGroupNodes nodes or a little more where
/// the graph allows it. Group g has the nodes group_ptr[g] .. group_ptr[g + 1]. A layer processes
/// one group after the other within the cache.
/// @return [G + 1] group_ptr
std::vector<std::int64_t> group_nodes(const GraphBatch& graph);

/// Supports CPU graphs only. @param by_source also compute the arrays that the backward pass needs
EdgeIndex make_edge_index(const GraphBatch& graph, bool by_source);

/// Destination node of each edge, [E] int64, on the graph's device.
at::Tensor edge_destinations(const at::Tensor& edge_ptr, std::int64_t num_edges);

}  // namespace traffic::model
