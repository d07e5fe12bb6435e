/// Computes segment_attention() for tensors on GPUs. Three kernels compute the attention and the
/// gradients of scores, queries, keys and values. ATen operations compute the gradients of the
/// parameters.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "../segment_attention.h"
#include "attention_kernels.h"
#include "traffic/model/graph_batch.h"

namespace traffic::model::device {

/// The edges of a graph by destination and by source, on the graph's device. All layers of a
/// forward pass share one object.
struct DeviceEdges {
  at::Tensor edge_ptr;       ///< [N + 1] int32
  at::Tensor edge_src;       ///< [E] int32
  at::Tensor edge_features;  ///< [E, 4] float32
  at::Tensor edge_dst;  ///< [E] int32; undefined without by_source, as are out_ptr and out_edge
  at::Tensor out_ptr;   ///< [N + 1] int32: out_edge[out_ptr[i]] to out_edge[out_ptr[i + 1] - 1] are
                        ///< the edges that start at node i
  at::Tensor out_edge;  ///< [E] int32: index of an edge; ascending for each node
};
/// @param by_source whether to compute also edge_dst, out_ptr and out_edge, which the backward pass
///   needs
DeviceEdges make_device_edges(const GraphBatch& graph, bool by_source);

/// Whether the kernels support these sizes.
bool device_attention_fits(std::int64_t width, std::int64_t heads);

/// Same contract as segment_attention; computes in float32 whatever the type of qkv.
/// @param edges made with by_source if gradients are enabled
at::Tensor device_attention(const at::Tensor& qkv, const DeviceEdges& edges,
                            const EdgeParameters& parameters, std::int64_t heads,
                            const AttentionKernels& kernels);

}  // namespace traffic::model::device
