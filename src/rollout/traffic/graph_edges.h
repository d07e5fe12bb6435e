/// check_edges(), with which a rank checks the edges of a graph that a simulation has sent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "traffic/core/error.h"

namespace traffic::rollout {

/// Checks edges that are sorted by destination: edge_ptr [nodes + 1] rises from 0 to the number of
/// edges, and edge_src holds indices of nodes.
/// @throws WorkerError if they do not
inline void check_edges(std::span<const std::int32_t> edge_ptr,
                        std::span<const std::int32_t> edge_src) {
  const auto edges = static_cast<std::int32_t>(edge_src.size());
  const auto nodes = static_cast<std::int32_t>(edge_ptr.size()) - 1;
  if (edge_ptr.front() != 0 || edge_ptr.back() != edges ||
      !std::is_sorted(edge_ptr.begin(), edge_ptr.end())) {
    throw WorkerError(
        "in a graph of the observation, edge_ptr does not rise from 0 to {}, the number of edges",
        edges);
  }
  for (const std::int32_t source : edge_src) {
    if (source < 0 || source >= nodes) {
      throw WorkerError(
          "in a graph of the observation, an edge comes from node {}, but there are only {} nodes",
          source, nodes);
    }
  }
}

}  // namespace traffic::rollout
