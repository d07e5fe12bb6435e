/// The traffic lights of a network as a graph: what a light can know of those around it.
///
/// Nodes are all lights of the network. Between two of which one is the next on the road behind the
/// other there is an edge in either direction, so that states travel with the traffic and against
/// it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "traffic/scene/signal_view.h"

namespace traffic::scene {

/// A light that is farther behind another one has nothing to do with it.
inline constexpr double kNextSignalReachM = 1000.0;

/// Names of the columns of an edge, in their order.
std::span<const std::string_view> signal_edge_features();
/// Columns of a node: those of a green, in the mean of the light's greens and of the present one.
std::size_t num_signal_node_features();

/// Of one moment, L lights, E edges by destination; views into arrays that somebody else keeps.
/// Without nodes: nobody asked for it.
struct SignalGraphView {
  std::span<const float> node_features{};    ///< [L, num_signal_node_features()] about 0..1
  std::span<const std::int32_t> edge_ptr{};  ///< [L + 1]; empty where there are no nodes
  std::span<const std::int32_t> edge_src{};  ///< [E] light at the tail
  std::span<const float> edge_features{};    ///< [E, 4] about 0..1

  [[nodiscard]] std::int64_t num_nodes() const {
    return edge_ptr.empty() ? 0 : static_cast<std::int64_t>(edge_ptr.size()) - 1;
  }
};

/// The arrays of it.
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

/// Finds once which light follows which, then makes the graph of every moment.
class SignalGraphBuilder {
 public:
  explicit SignalGraphBuilder(const Road& road);

  /// @param view of that road, updated
  /// @param out overwritten; its vectors are reused
  void build(const SignalView& view, SignalGraph& out) const;

 private:
  /// From one light to the next one.
  struct Way {
    int from = -1;
    int to = -1;
    double distance_m = 0;   ///< the shortest
    std::vector<int> links;  ///< of `from`, that lead there
  };
  struct Edge {
    int source = -1;
    double distance_m = 0;
    int there = -1;  ///< way from the source to the destination; -1: none
    int back = -1;   ///< way from the destination to the source
  };
  void add_ways(const Road& road, int light, int link, int first_edge);
  void join_lights();
  void describe_lights(const SignalView& view, std::vector<float>& nodes) const;
  [[nodiscard]] double open_share(int way, const SignalBook& book) const;

  std::vector<Way> ways_;
  std::vector<Edge> edges_;             ///< by destination
  std::vector<std::int32_t> edge_ptr_;  ///< [L + 1]
};

}  // namespace traffic::scene
