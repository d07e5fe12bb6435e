/// The fixed parts of an encoded period. Arrays follow them in the order of the members that count
/// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "traffic/scene/frame.h"
#include "traffic/scene/score.h"

namespace traffic::rollout {

inline constexpr std::uint32_t kPeriodMark = 0x54525045;
inline constexpr std::uint32_t kFrameMark = 0x54524652;
inline constexpr std::size_t kGlobals =
    std::tuple_size_v<decltype(scene::GraphFrame::global_features)>;
inline constexpr std::size_t kEdgeFeatures = 4;

struct PeriodHead {
  std::uint32_t mark;
  std::uint8_t terminated;
  std::uint8_t truncated;
  // Section of the vehicles. The frames come first, because they are written before the rest is
  // known.
  std::uint32_t num_frames;
  std::uint32_t num_candidates;
  std::uint32_t num_controlled;
  std::uint32_t num_scripted;
  std::uint32_t num_advice;
  // Growth of the objective: growth [S], conflict_growth [S, C].
  std::uint32_t num_steps;
  std::uint32_t num_conflicts;
  // Section of the lights: lost_s, choices, rows, and the graph if there are nodes.
  std::uint32_t num_lights;
  std::uint32_t num_choices;
  std::uint32_t num_rows;
  std::uint32_t num_nodes;
  std::uint32_t num_edges;
  double time_s;
  scene::EpisodeScore score;
};

/// The arrays of a frame follow: vehicle_id, xy_m, node_features, edge_ptr, edge_src,
/// edge_features.
struct FrameHead {
  std::uint32_t mark;
  std::uint32_t nodes;
  std::uint32_t edges;
  std::uint32_t features;
  double time_s;
  std::array<float, kGlobals> globals;
};

}  // namespace traffic::rollout
