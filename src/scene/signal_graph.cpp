// Builds the graph of the traffic lights: finds which lights follow each other, and computes the
// features of lights and of pairs of lights.
#include "traffic/scene/signal_graph.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <utility>

#include "index.h"
#include "traffic/scene/signal_features.h"

namespace traffic::scene {
namespace {

/// Features of an edge from one light (the source) to another (the destination).
constexpr std::array<SignalFeatureSpec, 4> kEdgeFeatures{{
    {.name = "distance",
     .unit = "m",
     .scale = kNextSignalReachM,
     .help = "distance between the lights",
     .high = kNextSignalReachM},
    {.name = "one_way",
     .unit = "1",
     .scale = 1,
     .help = "1 if traffic only reaches the destination from the source, -1 if only the reverse "
             "holds, 0 if both hold",
     .low = -1,
     .high = 1},
    {.name = "open",
     .unit = "1",
     .scale = 1,
     .help = "share of the source's links towards the destination that have green",
     .high = 1},
    {.name = "open_back",
     .unit = "1",
     .scale = 1,
     .help = "share of the destination's links towards the source that have green",
     .high = 1},
}};

template <typename T>
std::vector<T> copied(std::span<const T> values) {
  return {values.begin(), values.end()};
}

/// Finds the first light on every way from the start of an edge, up to kNextSignalReachM.
/// @return distance in m to the stop line, by light
std::map<int, double> next_lights(const Road& road, int first_edge) {
  using Reached = std::pair<double, int>;  // distance to the end of an edge, edge
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> ahead;
  std::map<int, double> found;
  std::vector<bool> passed(road.edges.size());
  ahead.emplace(at(road.edges, first_edge).length_m, first_edge);
  while (!ahead.empty()) {
    const auto [distance_m, edge] = ahead.top();
    ahead.pop();
    if (distance_m > kNextSignalReachM) break;
    if (passed[static_cast<std::size_t>(edge)]) continue;
    passed[static_cast<std::size_t>(edge)] = true;
    const auto& here = at(road.edges, edge);
    for (int lane = here.first_lane; lane < here.first_lane + here.num_lanes; ++lane) {
      if (!at(road.lanes, lane).drivable) continue;
      for (const Link& link : at(road.lanes, lane).links) {
        if (link.light >= 0) {
          found.try_emplace(link.light, distance_m);
        } else if (link.to_lane >= 0) {
          const int next = at(road.lanes, link.to_lane).edge;
          ahead.emplace(distance_m + at(road.edges, next).length_m, next);
        }
      }
    }
  }
  return found;
}

}  // namespace

std::span<const SignalFeatureSpec> signal_edge_feature_specs() { return kEdgeFeatures; }

std::span<const std::string_view> signal_edge_features() {
  static constexpr auto kNames = [] {
    std::array<std::string_view, kEdgeFeatures.size()> names;
    std::ranges::transform(kEdgeFeatures, names.begin(), &SignalFeatureSpec::name);
    return names;
  }();
  return kNames;
}

std::size_t num_signal_node_features() { return 2 * signal_features().size(); }

SignalGraph::SignalGraph(const SignalGraphView& from)
    : node_features(copied(from.node_features)),
      edge_ptr(copied(from.edge_ptr)),
      edge_src(copied(from.edge_src)),
      edge_features(copied(from.edge_features)) {}

SignalGraphBuilder::SignalGraphBuilder(const Road& road) {
  for (std::size_t lane = 0; lane < road.lanes.size(); ++lane) {
    if (!road.lanes[lane].drivable || at(road.edges, road.lanes[lane].edge).internal) continue;
    for (const Link& link : road.lanes[lane].links) {
      if (link.light < 0 || link.to_lane < 0) continue;
      add_ways(road, link.light, link.light_link, at(road.lanes, link.to_lane).edge);
    }
  }
  edge_ptr_.assign(road.lights.size() + 1, 0);
  join_lights();
}

void SignalGraphBuilder::add_ways(const Road& road, int light, int link, int first_edge) {
  for (const auto& [next, distance_m] : next_lights(road, first_edge)) {
    if (next == light) continue;
    // `to` is a copy of `next`, because clang did not let lambdas capture structured bindings.
    const auto known = std::find_if(ways_.begin(), ways_.end(), [light, to = next](const Way& way) {
      return way.from == light && way.to == to;
    });
    Way& way = known != ways_.end() ? *known : ways_.emplace_back(Way{light, next, distance_m, {}});
    way.distance_m = std::min(way.distance_m, distance_m);
    way.links.push_back(link);
  }
}

void SignalGraphBuilder::join_lights() {
  std::map<std::pair<int, int>, Edge> edges;  // by destination and source
  for (std::size_t w = 0; w < ways_.size(); ++w) {
    const Way& way = ways_[w];
    const auto edge_of = [&](int destination, int source) -> Edge& {
      Edge& edge = edges.try_emplace({destination, source}, Edge{source, way.distance_m, -1, -1})
                       .first->second;
      edge.distance_m = std::min(edge.distance_m, way.distance_m);
      return edge;
    };
    edge_of(way.to, way.from).there = static_cast<int>(w);
    edge_of(way.from, way.to).back = static_cast<int>(w);
  }
  for (const auto& [ends, edge] : edges) {
    edges_.push_back(edge);
    ++edge_ptr_[static_cast<std::size_t>(ends.first) + 1];
  }
  for (std::size_t light = 1; light < edge_ptr_.size(); ++light) {
    edge_ptr_[light] += edge_ptr_[light - 1];
  }
}

void SignalGraphBuilder::build(const SignalView& view, SignalGraph& out) const {
  out.edge_ptr = edge_ptr_;
  describe_lights(view, out.node_features);
  out.edge_src.clear();
  out.edge_features.clear();
  for (const Edge& edge : edges_) {
    const double one_way = edge.there < 0 ? -1.0 : edge.back < 0 ? 1.0 : 0.0;
    const std::array<double, kEdgeFeatures.size()> row{edge.distance_m, one_way,
                                                       open_share(edge.there, view.book()),
                                                       open_share(edge.back, view.book())};
    out.edge_src.push_back(edge.source);
    for (std::size_t i = 0; i < row.size(); ++i) {
      out.edge_features.push_back(static_cast<float>(kEdgeFeatures[i].scaled(row[i])));
    }
  }
}

void SignalGraphBuilder::describe_lights(const SignalView& view, std::vector<float>& nodes) const {
  const std::size_t columns = signal_features().size();
  nodes.assign((edge_ptr_.size() - 1) * 2 * columns, 0.0F);
  std::vector<float> rows;
  float* node = nodes.data();
  for (int light = 0; light < view.book().num_lights(); ++light, node += 2 * columns) {
    rows.clear();
    view.append_features(light, rows);
    const std::vector<SignalOption> options = view.book().options(light);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      node[i % columns] += rows[i] / static_cast<float>(options.size());
    }
    const auto present = std::ranges::find_if(options, &SignalOption::is_present);
    if (present == options.end()) continue;
    const auto row = static_cast<std::size_t>(present - options.begin());
    std::copy_n(&rows[row * columns], columns, node + columns);
  }
}

double SignalGraphBuilder::open_share(int way_index, const SignalBook& book) const {
  if (way_index < 0) return 0.0;
  const Way& way = at(ways_, way_index);
  const std::vector<SignalOption> options = book.options(way.from);
  const auto present = std::ranges::find_if(options, &SignalOption::is_present);
  if (present == options.end()) return 0.0;
  const std::string& shown = present->green->state;
  const auto open = std::count_if(way.links.begin(), way.links.end(),
                                  [&](int link) { return is_green(at(shown, link)); });
  return static_cast<double>(open) / static_cast<double>(way.links.size());
}

}  // namespace traffic::scene
