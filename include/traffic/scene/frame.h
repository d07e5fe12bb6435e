/// A frame is one observation of the traffic: a graph whose nodes are the vehicles.
///
/// All values are in physical units; normaliser.h scales them for models. The tables that
/// node_features(), edge_features() and global_features() return define the name, unit and scale of
/// every feature. The data format and the models read these tables.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace traffic::scene {

/// Description of a feature. Models see (value - offset) / scale.
struct FeatureSpec {
  std::string_view name;
  std::string_view unit;  ///< "1" for a number without unit
  float offset;
  float scale;
  std::string_view help;
};

/// Node features in the order of their columns. The first nine are position, speed, acceleration,
/// lane, remaining distance, completion, is_cv, time as sine and cosine.
std::span<const FeatureSpec> node_features();
/// Edge features in the order of their columns: distance, relative speed, time-to-collision, time
/// headway.
std::span<const FeatureSpec> edge_features();
/// The 16 features of the whole traffic in the order of their columns.
std::span<const FeatureSpec> global_features();

/// Column of a node feature by name.
/// @throws Error for an unknown name
int node_feature_index(std::string_view name);

/// All vehicles at one moment. N vehicles, E edges, F = node_features().size(). An edge leads from
/// a neighbour (its source) to the vehicle that observes it. Edges are sorted by destination: the
/// in-edges of node i are edge_ptr[i] .. edge_ptr[i + 1]. The spans refer to arrays of another
/// object.
struct FrameView {
  double time_s = 0;                            ///< simulated time since the start of the episode
  std::span<const std::uint32_t> vehicle_id{};  ///< [N] ascending
  std::span<const float> xy_m{};                ///< [N, 2]
  std::span<const float> node_features{};       ///< [N, F]
  std::span<const std::int32_t> edge_ptr{};     ///< [N + 1]
  std::span<const std::int32_t> edge_src{};     ///< [E]
  std::span<const float> edge_features{};       ///< [E, 4]
  std::span<const float> global_features{};     ///< [16]

  [[nodiscard]] std::int64_t num_nodes() const {
    return static_cast<std::int64_t>(vehicle_id.size());
  }
  [[nodiscard]] std::int64_t num_edges() const {
    return static_cast<std::int64_t>(edge_src.size());
  }
};

/// A frame that owns its arrays.
struct GraphFrame {
  double time_s = 0.0;                      ///< simulated time since the start of the episode
  std::vector<std::uint32_t> vehicle_id;    ///< [N] ascending, unique within the episode
  std::vector<float> xy_m;                  ///< [N, 2] position in the plane
  std::vector<float> node_features;         ///< [N, F] physical units
  std::vector<std::int32_t> edge_ptr;       ///< [N + 1]
  std::vector<std::int32_t> edge_src;       ///< [E] source node
  std::vector<float> edge_features;         ///< [E, 4] physical units
  std::array<float, 16> global_features{};  ///< physical units

  [[nodiscard]] std::int64_t num_nodes() const {
    return static_cast<std::int64_t>(vehicle_id.size());
  }
  [[nodiscard]] std::int64_t num_edges() const {
    return static_cast<std::int64_t>(edge_src.size());
  }
  /// Valid until the frame changes.
  [[nodiscard]] FrameView view() const {
    return {.time_s = time_s,
            .vehicle_id = vehicle_id,
            .xy_m = xy_m,
            .node_features = node_features,
            .edge_ptr = edge_ptr,
            .edge_src = edge_src,
            .edge_features = edge_features,
            .global_features = global_features};
  }
};

}  // namespace traffic::scene
