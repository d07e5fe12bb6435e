// Finds the part of a graph on which the encodings of chosen nodes depend.
#include "traffic/model/receptive_field.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>

#include "edge_index.h"
#include "traffic/core/error.h"

namespace traffic::model {
namespace {

/// Number of edges from each node to the nearest chosen node; hops + 1 if it is greater than hops.
std::vector<std::int64_t> distances(const GraphBatch& graph, std::span<const std::int64_t> chosen,
                                    std::int64_t hops) {
  const auto* ptr = graph.edge_ptr.const_data_ptr<std::int32_t>();
  const auto* src = graph.edge_src.const_data_ptr<std::int32_t>();
  std::vector<std::int64_t> distance(static_cast<std::size_t>(graph.num_nodes()), hops + 1);
  std::vector<std::int64_t> reached(chosen.begin(), chosen.end());
  for (const std::int64_t node : chosen) distance.at(static_cast<std::size_t>(node)) = 0;
  for (std::size_t k = 0; k < reached.size(); ++k) {
    const std::int64_t next = distance[static_cast<std::size_t>(reached[k])] + 1;
    if (next > hops) break;
    for (std::int32_t e = ptr[reached[k]]; e < ptr[reached[k] + 1]; ++e) {
      auto& of_source = distance[static_cast<std::size_t>(src[e])];
      if (of_source <= next) continue;
      of_source = next;
      reached.push_back(src[e]);
    }
  }
  return distance;
}

/// Sorts the nodes of the receptive field, and fills field.group_ptr and field.end.
/// @param groups begins of the groups of nodes, then the number of nodes
/// @return index in the graph of each node of the field
std::vector<std::int64_t> order_nodes(const std::vector<std::int64_t>& groups,
                                      const std::vector<std::int64_t>& distance,
                                      ReceptiveField& field) {
  std::vector<std::int64_t> order;
  field.group_ptr.push_back(0);
  for (std::size_t g = 0; g + 1 < groups.size(); ++g) {
    for (std::size_t h = 0; h < field.end.size(); ++h) {
      for (std::int64_t node = groups[g]; node < groups[g + 1]; ++node) {
        if (distance[static_cast<std::size_t>(node)] == static_cast<std::int64_t>(h)) {
          order.push_back(node);
        }
      }
      field.end[h].push_back(static_cast<std::int64_t>(order.size()));
    }
    field.group_ptr.push_back(static_cast<std::int64_t>(order.size()));
  }
  return order;
}

/// Copies the edges that lead to nodes less than `hops` edges away from a chosen node. No layer
/// computes the other nodes of the field.
void copy_edges(const GraphBatch& from, const std::vector<std::int64_t>& order,
                const std::vector<std::int64_t>& distance, std::int64_t hops, GraphBatch& to) {
  const auto* from_ptr = from.edge_ptr.const_data_ptr<std::int32_t>();
  const auto* from_src = from.edge_src.const_data_ptr<std::int32_t>();
  const auto* from_features = from.edge_features.const_data_ptr<float>();
  const std::int64_t columns = from.edge_features.size(1);
  std::vector<std::int32_t> new_row(distance.size());
  std::int64_t edges = 0;
  for (std::size_t row = 0; row < order.size(); ++row) {
    new_row[static_cast<std::size_t>(order[row])] = static_cast<std::int32_t>(row);
    if (distance[static_cast<std::size_t>(order[row])] < hops) {
      edges += from_ptr[order[row] + 1] - from_ptr[order[row]];
    }
  }
  to.edge_ptr = at::empty({static_cast<std::int64_t>(order.size()) + 1}, at::kInt);
  to.edge_src = at::empty({edges}, at::kInt);
  to.edge_features = at::empty({edges, columns}, at::kFloat);
  auto* ptr = to.edge_ptr.mutable_data_ptr<std::int32_t>();
  auto* src = to.edge_src.mutable_data_ptr<std::int32_t>();
  auto* features = to.edge_features.mutable_data_ptr<float>();
  *ptr = 0;
  for (const std::int64_t node : order) {
    const std::int32_t first = from_ptr[node];
    const std::int32_t count =
        distance[static_cast<std::size_t>(node)] < hops ? from_ptr[node + 1] - first : 0;
    for (std::int32_t e = first; e < first + count; ++e)
      *src++ = new_row[static_cast<std::size_t>(from_src[e])];
    features = std::copy_n(from_features + first * columns, count * columns, features);
    ptr[1] = *ptr + count;
    ++ptr;
  }
}

at::Tensor copy_rows(const at::Tensor& table, const std::vector<std::int64_t>& rows) {
  const std::int64_t columns = table.size(1);
  at::Tensor out = at::empty({static_cast<std::int64_t>(rows.size()), columns}, at::kFloat);
  const at::Tensor from = table.contiguous();
  auto* to = out.mutable_data_ptr<float>();
  for (const std::int64_t row : rows) {
    to = std::copy_n(from.const_data_ptr<float>() + row * columns, columns, to);
  }
  return out;
}

/// Rows of the chosen nodes. They are the first nodes of each group.
at::Tensor rows_of_chosen(const ReceptiveField& field, std::size_t count) {
  at::Tensor rows = at::empty({static_cast<std::int64_t>(count)}, at::kLong);
  auto* to = rows.mutable_data_ptr<std::int64_t>();
  for (std::size_t g = 0; g + 1 < field.group_ptr.size(); ++g) {
    for (std::int64_t row = field.group_ptr[g]; row < field.end[0][g]; ++row) *to++ = row;
  }
  return rows;
}

}  // namespace

ReceptiveField ReceptiveField::to(at::Device device) const {
  ReceptiveField moved = *this;
  moved.graph = {.node_features = graph.node_features.to(device),
                 .edge_ptr = graph.edge_ptr.to(device),
                 .edge_src = graph.edge_src.to(device),
                 .edge_features = graph.edge_features.to(device)};
  moved.chosen = chosen.to(device);
  return moved;
}

ReceptiveField receptive_field(const GraphBatch& graph, std::span<const std::int64_t> chosen,
                               std::int64_t hops) {
  check_graph(graph);
  TRAFFIC_CHECK(graph.node_features.is_cpu(), "the graph must be on the CPU");
  TRAFFIC_CHECK(
      std::adjacent_find(chosen.begin(), chosen.end(), std::greater_equal<>()) == chosen.end(),
      "chosen nodes must be ascending");
  const std::vector<std::int64_t> distance = distances(graph, chosen, hops);
  ReceptiveField field;
  field.end.resize(static_cast<std::size_t>(hops) + 1);
  const std::vector<std::int64_t> order = order_nodes(group_nodes(graph), distance, field);
  field.graph.node_features = copy_rows(graph.node_features, order);
  copy_edges(graph, order, distance, hops, field.graph);
  field.chosen = rows_of_chosen(field, chosen.size());
  return field;
}

}  // namespace traffic::model
