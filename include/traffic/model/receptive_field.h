/// The receptive field: the part of a graph on which the encodings of some chosen nodes depend.
/// Computing it first spares the graph encoder all other nodes.
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
/// The nodes are divided into groups, and no edge leads from one group to another. Within a group
/// the nodes are sorted by their distance to the nearest chosen node, counted in edges. A layer of
/// the encoder can therefore leave out distant nodes by processing only the first nodes of a group.
struct ReceptiveField {
  GraphBatch graph;
  at::Tensor chosen;  ///< [S] int64: the chosen nodes, as rows of `graph`
  /// [G + 1]: group g consists of the nodes group_ptr[g] to group_ptr[g + 1] - 1.
  std::vector<std::int64_t> group_ptr;
  /// [hops + 1][G]: the nodes group_ptr[g] to end[h][g] - 1 are at most h edges from a chosen node.
  std::vector<std::vector<std::int64_t>> end;

  /// A copy on another device.
  [[nodiscard]] ReceptiveField to(at::Device device) const;
};

/// Computes the receptive field of the chosen nodes.
/// @param graph on the CPU
/// @param chosen indices of nodes of the graph, ascending
/// @param hops number of layers of the encoder
/// @throws ShapeError under the conditions of check_graph
ReceptiveField receptive_field(const GraphBatch& graph, std::span<const std::int64_t> chosen,
                               std::int64_t hops);

}  // namespace traffic::model
