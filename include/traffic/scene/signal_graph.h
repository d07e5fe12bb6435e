/// The traffic lights of a network as a graph, which informs each light of its neighbours.
///
/// All lights of the network are nodes. Two lights are connected if traffic that leaves one reaches
/// the other next. Such a pair has one edge in each direction, so that a light is informed of
/// lights upstream and downstream.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "traffic/scene/signal_view.h"

namespace traffic::scene {

/// Maximum distance between two connected lights.
inline constexpr double kNextSignalReachM = 1000.0;

/// Names of the features of an edge, in the order of columns.
std::span<const std::string_view> signal_edge_features();
/// Number of columns of a node. They are the columns of signal_features() twice: averaged over the
/// light's greens, then those of the present green.
std::size_t num_signal_node_features();

/// The graph at one moment with L lights and E edges, sorted by destination. The views refer to
/// arrays of another object. The graph has no nodes if the policy does not use it.
struct SignalGraphView {
  std::span<const float> node_features{};    ///< [L, num_signal_node_features()] about 0..1
  std::span<const std::int32_t> edge_ptr{};  ///< [L + 1]; empty without nodes
  std::span<const std::int32_t> edge_src{};  ///< [E] source light
  std::span<const float> edge_features{};    ///< [E, 4] about 0..1

  [[nodiscard]] std::int64_t num_nodes() const {
    return edge_ptr.empty() ? 0 : static_cast<std::int64_t>(edge_ptr.size()) - 1;
  }
};

/// A graph of lights that owns its arrays. Their shapes are those of SignalGraphView.
struct SignalGraph {
  std::vector<float> node_features;
  std::vector<std::int32_t> edge_ptr;
  std::vector<std::int32_t> edge_src;
  std::vector<float> edge_features;

  SignalGraph() = default;
  explicit SignalGraph(const SignalGraphView& from);
  /// Valid until the graph changes.
  [[nodiscard]] SignalGraphView view() const {
    return {node_features, edge_ptr, edge_src, edge_features};
  }
};

/// The constructor finds which lights follow each other. build() computes the graph for the present
/// moment.
class SignalGraphBuilder {
 public:
  explicit SignalGraphBuilder(const Road& road);

  /// @param view the updated view of the same road
  /// @param out overwritten; its vectors are reused
  void build(const SignalView& view, SignalGraph& out) const;

 private:
  /// A way between two successive lights.
  struct Way {
    int from = -1;
    int to = -1;
    double distance_m = 0;   ///< shortest distance
    std::vector<int> links;  ///< links of `from` that lead to `to`
  };
  struct Edge {
    int source = -1;
    double distance_m = 0;
    int there = -1;  ///< index of the Way from source to destination; -1: none
    int back = -1;   ///< index of the Way from destination to source; -1: none
  };
  void add_ways(const Road& road, int light, int link, int first_edge);
  void join_lights();
  void describe_lights(const SignalView& view, std::vector<float>& nodes) const;
  [[nodiscard]] double open_share(int way, const SignalBook& book) const;

  std::vector<Way> ways_;
  std::vector<Edge> edges_;             ///< sorted by destination
  std::vector<std::int32_t> edge_ptr_;  ///< [L + 1]
};

}  // namespace traffic::scene
