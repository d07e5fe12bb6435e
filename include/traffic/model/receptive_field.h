/// The receptive field: the part of a graph that the encodings of chosen nodes depend on.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/model/graph_batch.h"

namespace traffic::model {

/// Contains the nodes from which a chosen node can be reached over at most `hops` edges, and the
/// edges of those paths.
///
/// Nodes form groups that no edge connects. Within a group they are sorted by their distance from
/// the chosen nodes, so that each layer of an encoder processes only the first nodes of a group.
struct ReceptiveField {
  GraphBatch graph;
  at::Tensor chosen;                    ///< [S] int64: rows of the chosen nodes
  std::vector<std::int64_t> group_ptr;  ///< [G + 1]: group g has nodes group_ptr[g] .. group_ptr[g
                                        ///< + 1]
  /// [hops + 1][G]: end of the nodes of group g that are at most h edges from a chosen node.
  std::vector<std::vector<std::int64_t>> end;

  [[nodiscard]] ReceptiveField to(at::Device device) const;
};

/// @param graph on the CPU
/// @param chosen nodes of the graph, ascending
/// @throws ShapeError under the conditions of check_graph
ReceptiveField receptive_field(const GraphBatch& graph, std::span<const std::int64_t> chosen,
                               std::int64_t hops);

}  // namespace traffic::model
