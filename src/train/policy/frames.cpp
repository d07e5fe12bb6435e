#include "policy/frames.h"

#include "traffic/scene/frame.h"
#include "traffic/scene/normaliser.h"

namespace traffic::train {
std::int64_t num_nodes(FrameViews frames) {
  std::int64_t nodes = 0;
  for (const auto* frame : frames) nodes += frame->num_nodes();
  return nodes;
}

torch::Tensor pack_nodes(FrameViews frames) {
  const scene::Normaliser& normaliser = scene::node_normaliser();
  torch::Tensor nodes =
      torch::empty({num_nodes(frames), static_cast<std::int64_t>(normaliser.columns())});
  auto* to = nodes.mutable_data_ptr<float>();
  for (const auto* frame : frames) to = normaliser.write(frame->node_features, to);
  return nodes;
}

model::GraphBatch join_edges(std::span<const GraphEdges> graphs) {
  std::size_t num_ptr = 1;
  std::size_t num_edges = 0;
  for (const GraphEdges& graph : graphs) {
    num_ptr += graph.ptr.size() - 1;
    num_edges += graph.src.size();
  }
  model::GraphBatch joined;
  joined.edge_ptr = torch::empty({static_cast<std::int64_t>(num_ptr)}, torch::kInt);
  joined.edge_src = torch::empty({static_cast<std::int64_t>(num_edges)}, torch::kInt);
  auto* ptr = joined.edge_ptr.mutable_data_ptr<std::int32_t>();
  auto* src = joined.edge_src.mutable_data_ptr<std::int32_t>();
  std::int32_t nodes = 0;
  std::int32_t edges = 0;
  *ptr++ = 0;
  for (const GraphEdges& graph : graphs) {
    for (const std::int32_t end : graph.ptr.subspan(1)) *ptr++ = edges + end;
    for (const std::int32_t source : graph.src) *src++ = nodes + source;
    nodes += static_cast<std::int32_t>(graph.ptr.size()) - 1;
    edges += static_cast<std::int32_t>(graph.src.size());
  }
  return joined;
}

model::GraphBatch pack_graphs(FrameViews frames) {
  std::vector<GraphEdges> edges;
  edges.reserve(frames.size());
  for (const auto* frame : frames) edges.push_back({frame->edge_ptr, frame->edge_src});
  const scene::Normaliser& normaliser = scene::edge_normaliser();
  model::GraphBatch graph = join_edges(edges);
  graph.node_features = pack_nodes(frames);
  graph.edge_features =
      torch::empty({graph.num_edges(), static_cast<std::int64_t>(normaliser.columns())});
  auto* features = graph.edge_features.mutable_data_ptr<float>();
  for (const auto* frame : frames) features = normaliser.write(frame->edge_features, features);
  return graph;
}

ConnectedVehicles find_connected(FrameViews frames) {
  static const auto kIsCv = static_cast<std::size_t>(scene::node_feature_index("is_cv"));
  const std::size_t columns = scene::node_features().size();
  ConnectedVehicles all;
  std::int64_t first_node = 0;
  for (const auto* frame : frames) {
    for (std::size_t i = 0; i < frame->vehicle_id.size(); ++i) {
      if (frame->node_features[i * columns + kIsCv] < 0.5F) continue;
      all.id.push_back(frame->vehicle_id[i]);
      all.node.push_back(first_node + static_cast<std::int64_t>(i));
    }
    all.ptr.push_back(static_cast<std::int64_t>(all.id.size()));
    first_node += frame->num_nodes();
  }
  return all;
}

}  // namespace traffic::train
