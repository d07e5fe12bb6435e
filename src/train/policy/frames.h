/// Packs frames into the tensors that a model reads. A frame is the graph of all vehicles of a
/// simulation at one time; it lies in shared memory.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/model/graph_batch.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::train {

using FrameViews = std::span<const scene::FrameView* const>;

/// Number of nodes of all frames together.
std::int64_t num_nodes(FrameViews frames);

/// The edges of a graph, sorted by destination.
struct GraphEdges {
  std::span<const std::int32_t> ptr;  ///< [nodes + 1]
  std::span<const std::int32_t> src;  ///< [edges]
};
/// Joins several graphs into one on the CPU. The caller fills in the features.
model::GraphBatch join_edges(std::span<const GraphEdges> graphs);

/// Normalised features of the nodes of several frames, frame by frame: [N, F].
torch::Tensor pack_nodes(FrameViews frames);
/// Joins the graphs of several frames into one on the CPU, with normalised features.
model::GraphBatch pack_graphs(FrameViews frames);

/// The connected vehicles of several frames, frame by frame in the order of their nodes.
struct ConnectedVehicles {
  std::vector<std::uint32_t> id;
  std::vector<std::int64_t> node;    ///< index among the nodes of all frames
  std::vector<std::int64_t> ptr{0};  ///< [frames + 1]: frame f has entries ptr[f] .. ptr[f + 1] - 1

  [[nodiscard]] std::span<const std::uint32_t> ids_of(std::size_t frame) const {
    return std::span(id).subspan(static_cast<std::size_t>(ptr[frame]),
                                 static_cast<std::size_t>(ptr[frame + 1] - ptr[frame]));
  }
};
ConnectedVehicles find_connected(FrameViews frames);

}  // namespace traffic::train
