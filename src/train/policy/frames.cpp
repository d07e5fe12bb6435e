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

model::GraphBatch pack_graphs(FrameViews frames) {
  std::int64_t num_edges = 0;
  for (const auto* frame : frames) num_edges += frame->num_edges();
  const scene::Normaliser& normaliser = scene::edge_normaliser();
  model::GraphBatch graph;
  graph.node_features = pack_nodes(frames);
  graph.edge_ptr = torch::empty({graph.num_nodes() + 1}, torch::kInt);
  graph.edge_src = torch::empty({num_edges}, torch::kInt);
  graph.edge_features = torch::empty({num_edges, static_cast<std::int64_t>(normaliser.columns())});
  auto* ptr = graph.edge_ptr.mutable_data_ptr<std::int32_t>();
  auto* src = graph.edge_src.mutable_data_ptr<std::int32_t>();
  auto* features = graph.edge_features.mutable_data_ptr<float>();
  std::int32_t nodes = 0;
  std::int32_t edges = 0;
  *ptr++ = 0;
  for (const auto* frame : frames) {
    for (const std::int32_t end : frame->edge_ptr.subspan(1)) *ptr++ = edges + end;
    for (const std::int32_t source : frame->edge_src) *src++ = nodes + source;
    features = normaliser.write(frame->edge_features, features);
    nodes += static_cast<std::int32_t>(frame->num_nodes());
    edges += static_cast<std::int32_t>(frame->num_edges());
  }
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
