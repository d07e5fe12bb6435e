// Checks graphs, divides their nodes into groups and sorts their edges by source.
#include "edge_index.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "traffic/core/error.h"

namespace traffic::model {
namespace {

void check_cpu_values(const GraphBatch& graph) {
  const auto* ptr = graph.edge_ptr.const_data_ptr<std::int32_t>();
  const auto* src = graph.edge_src.const_data_ptr<std::int32_t>();
  const std::int64_t nodes = graph.num_nodes();
  const std::int64_t edges = graph.num_edges();
  if (ptr[0] != 0 || ptr[nodes] != edges || !std::is_sorted(ptr, ptr + nodes + 1)) {
    throw ShapeError(
        "edge_ptr runs from {} to {}; expected numbers that rise from 0 to {}, the number of edges",
        ptr[0], ptr[nodes], edges);
  }
  const auto* wrong =
      std::find_if(src, src + edges, [&](std::int32_t s) { return s < 0 || s >= nodes; });
  if (wrong != src + edges)
    throw ShapeError("edge {} starts at node {}, but there are {} nodes", wrong - src, *wrong,
                     nodes);
}

}  // namespace

void check_graph(const GraphBatch& graph) {
  const auto& x = graph.node_features;
  if (x.dim() != 2 || x.scalar_type() != at::kFloat)
    throw ShapeError("node_features must be [N, F] float32");
  const auto fits = [&](const at::Tensor& t, at::ScalarType type) {
    return t.scalar_type() == type && t.device() == x.device() && t.is_contiguous();
  };
  if (graph.edge_ptr.dim() != 1 || graph.edge_ptr.size(0) != x.size(0) + 1 ||
      !fits(graph.edge_ptr, at::kInt)) {
    throw ShapeError("edge_ptr must be [{}] int32, contiguous and on {}", x.size(0) + 1,
                     x.device().str());
  }
  if (graph.edge_src.dim() != 1 || !fits(graph.edge_src, at::kInt)) {
    throw ShapeError("edge_src must be [E] int32, contiguous and on {}", x.device().str());
  }
  if (graph.edge_features.dim() != 2 || graph.edge_features.size(0) != graph.num_edges() ||
      graph.edge_features.size(1) != 4 || !fits(graph.edge_features, at::kFloat)) {
    throw ShapeError("edge_features must be [{}, 4] float32, contiguous and on {}",
                     graph.num_edges(), x.device().str());
  }
  if (x.is_cpu()) check_cpu_values(graph);
}

std::vector<std::int64_t> group_nodes(const GraphBatch& graph) {
  const std::int64_t nodes = graph.num_nodes();
  const auto* ptr = graph.edge_ptr.const_data_ptr<std::int32_t>();
  const auto* src = graph.edge_src.const_data_ptr<std::int32_t>();
  // [nodes] The highest node at the other end of an edge whose lower end is this node. The node
  // itself if there is no such edge.
  std::vector<std::int64_t> reach(static_cast<std::size_t>(nodes));
  for (std::int64_t i = 0; i < nodes; ++i) {
    auto& own = reach[static_cast<std::size_t>(i)];
    own = std::max(own, i);
    for (std::int64_t e = ptr[i]; e < ptr[i + 1]; ++e) {
      auto& low = reach[static_cast<std::size_t>(std::min<std::int64_t>(src[e], i))];
      low = std::max(low, std::max<std::int64_t>(src[e], i));
    }
  }
  std::vector<std::int64_t> groups{0};
  std::int64_t joined = 0;
  for (std::int64_t i = 0; i < nodes; ++i) {
    joined = std::max(joined, reach[static_cast<std::size_t>(i)]);
    if (joined == i && (i + 1 - groups.back() >= kGroupNodes || i + 1 == nodes))
      groups.push_back(i + 1);
  }
  return groups;
}

EdgeIndex make_edge_index(const GraphBatch& graph, bool by_source) {
  EdgeIndex index{graph.edge_ptr,    graph.edge_src, graph.edge_features, {}, {}, {},
                  group_nodes(graph)};
  const std::int64_t nodes = graph.num_nodes();
  const std::int64_t edges = graph.num_edges();
  const auto* ptr = graph.edge_ptr.const_data_ptr<std::int32_t>();
  if (!by_source) return index;

  index.edge_dst = at::empty({edges}, at::kInt);
  index.out_ptr = at::zeros({nodes + 1}, at::kInt);
  index.out_edge = at::empty({edges}, at::kInt);
  const auto* src = graph.edge_src.const_data_ptr<std::int32_t>();
  auto* dst = index.edge_dst.mutable_data_ptr<std::int32_t>();
  auto* out_ptr = index.out_ptr.mutable_data_ptr<std::int32_t>();
  auto* out_edge = index.out_edge.mutable_data_ptr<std::int32_t>();
  for (std::int64_t i = 0; i < nodes; ++i) {
    std::fill(dst + ptr[i], dst + ptr[i + 1], static_cast<std::int32_t>(i));
  }
  for (std::int64_t e = 0; e < edges; ++e) ++out_ptr[src[e] + 1];
  for (std::int64_t i = 0; i < nodes; ++i) out_ptr[i + 1] += out_ptr[i];
  // This loop advances out_ptr[i] from the start of node i to its end, which is the start of the
  // next node. All entries are therefore shifted by one position afterwards.
  for (std::int64_t e = 0; e < edges; ++e)
    out_edge[out_ptr[src[e]]++] = static_cast<std::int32_t>(e);
  std::copy_backward(out_ptr, out_ptr + nodes, out_ptr + nodes + 1);
  out_ptr[0] = 0;
  return index;
}

at::Tensor edge_destinations(const at::Tensor& edge_ptr, std::int64_t num_edges) {
  const at::Tensor degree = edge_ptr.diff().to(at::kLong);
  return at::repeat_interleave(at::arange(degree.size(0), degree.options()), degree, 0, num_edges);
}

}  // namespace traffic::model
