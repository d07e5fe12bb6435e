/// The part of a graph that the encodings of some of its nodes depend on.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/model/graph_batch.h"

namespace traffic::model {

/// The nodes from which one of the chosen nodes is reached over at most `hops` edges, with the
/// edges over which that happens.
///
/// Nodes stand in groups that no edge joins. Within a group they are ordered by their distance from
/// the chosen ones, so that each layer of an encoder has to do with the first of them only.
struct ReceptiveField {
  GraphBatch graph;
  at::Tensor chosen;                    ///< [S] int64: rows of the chosen nodes
  std::vector<std::int64_t> group_ptr;  ///< [G + 1]: group g is nodes group_ptr[g] .. [g + 1]
  /// [hops + 1][G]: where in group g the nodes end that are at most h edges away.
  std::vector<std::vector<std::int64_t>> end;

  [[nodiscard]] ReceptiveField to(at::Device device) const;
};

/// @param graph on the CPU
/// @param chosen nodes of it, ascending
/// @throws ShapeError as check_graph
ReceptiveField receptive_field(const GraphBatch& graph, std::span<const std::int64_t> chosen,
                               std::int64_t hops);

}  // namespace traffic::model
