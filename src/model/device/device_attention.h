/// segment_attention for tensors on GPUs: three kernels for what has a softmax or follows edges,
/// ATen operations for the gradients of the parameters.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "../segment_attention.h"
#include "attention_kernels.h"
#include "traffic/model/graph_batch.h"

namespace traffic::model::device {

/// The edges of a graph from both sides, on the graph's device. One for all layers of a forward
/// pass.
struct DeviceEdges {
  at::Tensor edge_ptr;       ///< [N + 1] int32
  at::Tensor edge_src;       ///< [E] int32
  at::Tensor edge_features;  ///< [E, 4] float32
  at::Tensor edge_dst;       ///< [E] int32; undefined if not asked for, as the two below
  at::Tensor out_ptr;        ///< [N + 1] int32
  at::Tensor out_edge;       ///< [E] int32: edges by source, ascending for each
};
/// @param by_source also what the backward pass needs
DeviceEdges make_device_edges(const GraphBatch& graph, bool by_source);

/// Whether the kernels are made for these sizes.
bool device_attention_fits(std::int64_t width, std::int64_t heads);

/// As segment_attention; float32 within whatever the type of qkv.
/// @param edges with by_source where gradients are enabled
at::Tensor device_attention(const at::Tensor& qkv, const DeviceEdges& edges,
                            const EdgeParameters& parameters, std::int64_t heads,
                            const AttentionKernels& kernels);

}  // namespace traffic::model::device
