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
/// The nodes are divided into groups; no edge leads from one group to another. Within a group the
/// nodes are sorted by their distance from the chosen nodes, in edges. Each layer of an encoder
/// therefore processes only the first nodes of a group.
struct ReceptiveField {
  GraphBatch graph;
  at::Tensor chosen;                    ///< [S] int64: the chosen nodes, as rows of `graph`
  std::vector<std::int64_t> group_ptr;  ///< [G + 1]: group g has nodes group_ptr[g] .. group_ptr[g
                                        ///< + 1]
  /// [hops + 1][G]: end of the nodes of group g that are at most h edges from a chosen node.
  std::vector<std::vector<std::int64_t>> end;

  /// A copy on another device.
  [[nodiscard]] ReceptiveField to(at::Device device) const;
};

/// @param graph on the CPU
/// @param chosen indices of nodes of the graph, ascending
/// @param hops number of layers of the encoder
/// @throws ShapeError under the conditions of check_graph
ReceptiveField receptive_field(const GraphBatch& graph, std::span<const std::int64_t> chosen,
                               std::int64_t hops);

}  // namespace traffic::model
