/// Frames in shared memory as the tensors that a model reads.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/model/graph_batch.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::train {

using FrameViews = std::span<const scene::FrameView* const>;

std::int64_t num_nodes(FrameViews frames);

/// The edges of a graph by destination.
struct GraphEdges {
  std::span<const std::int32_t> ptr;  ///< [nodes + 1]
  std::span<const std::int32_t> src;  ///< [edges]
};
/// Of several graphs as one, on the CPU; the features are for the caller to fill.
model::GraphBatch join_edges(std::span<const GraphEdges> graphs);

/// Normalised features of the nodes of several frames, one below the other: [N, F].
torch::Tensor pack_nodes(FrameViews frames);
/// The graphs of several frames as one, on the CPU.
model::GraphBatch pack_graphs(FrameViews frames);

/// The connected vehicles of several frames, frame by frame in the order of their nodes.
struct ConnectedVehicles {
  std::vector<std::uint32_t> id;
  std::vector<std::int64_t> node;    ///< among the nodes of all frames
  std::vector<std::int64_t> ptr{0};  ///< [frames + 1]: those of frame f are ptr[f] .. ptr[f + 1]

  [[nodiscard]] std::span<const std::uint32_t> ids_of(std::size_t frame) const {
    return std::span(id).subspan(static_cast<std::size_t>(ptr[frame]),
                                 static_cast<std::size_t>(ptr[frame + 1] - ptr[frame]));
  }
};
ConnectedVehicles find_connected(FrameViews frames);

}  // namespace traffic::train
