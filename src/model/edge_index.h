/// EdgeIndex: the edges of a graph, sorted by destination and by source, and a division of the
/// nodes into groups. The fused layers of the graph encoder on the CPU use it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "traffic/model/graph_batch.h"

namespace traffic::model {

/// Edge e is number e in the order of the graph, which is by destination. The arrays by source are
/// for the backward pass. All layers of a forward pass share one object.
struct EdgeIndex {
  at::Tensor edge_ptr;       ///< [N + 1] int32
  at::Tensor edge_src;       ///< [E] int32
  at::Tensor edge_features;  ///< [E, 4] float32
  at::Tensor edge_dst;  ///< [E] int32; undefined without by_source, as are out_ptr and out_edge
  at::Tensor out_ptr;   ///< [N + 1] int32: out_edge[out_ptr[i]] to out_edge[out_ptr[i + 1] - 1] are
                        ///< the edges that start at node i
  at::Tensor out_edge;  ///< [E] int32: index of an edge; ascending for each node
  std::vector<std::int64_t> group_ptr;  ///< [G + 1], see group_nodes

  [[nodiscard]] std::int64_t num_nodes() const { return edge_ptr.size(0) - 1; }
  [[nodiscard]] std::int64_t num_edges() const { return edge_src.size(0); }
  [[nodiscard]] std::int64_t num_groups() const {
    return static_cast<std::int64_t>(group_ptr.size()) - 1;
  }
};

/// Minimum number of nodes in a group, except for the last group.
inline constexpr std::int64_t kGroupNodes = 128;

/// Divides the nodes into groups, such that no edge leads from one group to another. The groups are
/// as small as this and kGroupNodes allow, so that the data of a group stay in the cache. Group g
/// has the nodes group_ptr[g] to group_ptr[g + 1] - 1.
/// @return [G + 1] group_ptr
std::vector<std::int64_t> group_nodes(const GraphBatch& graph);

/// Makes the index of a graph, which must be on the CPU.
/// @param by_source whether to compute also edge_dst, out_ptr and out_edge
EdgeIndex make_edge_index(const GraphBatch& graph, bool by_source);

/// Destination node of each edge, [E] int64, on the graph's device.
at::Tensor edge_destinations(const at::Tensor& edge_ptr, std::int64_t num_edges);

}  // namespace traffic::model
