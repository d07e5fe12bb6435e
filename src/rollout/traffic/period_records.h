/// The fixed parts of a period's bytes; the arrays follow them, each padded to kUnit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "traffic/scene/frame.h"
#include "traffic/scene/score.h"

namespace traffic::rollout {

inline constexpr std::size_t kUnit = 8;  ///< every array begins at a multiple of it
inline constexpr std::uint32_t kPeriodMark = 0x54525044;
inline constexpr std::uint32_t kFrameMark = 0x54524652;
inline constexpr std::size_t kGlobals =
    std::tuple_size_v<decltype(scene::GraphFrame::global_features)>;
inline constexpr std::size_t kEdgeFeatures = 4;

/// Then: the frames, growth [S], conflict_growth [S, C], candidates, controlled, scripted,
/// advice.
struct PeriodHead {
  std::uint32_t mark;
  std::uint32_t num_frames;
  std::uint32_t num_steps;
  std::uint32_t num_conflicts;
  std::uint32_t num_candidates;
  std::uint32_t num_controlled;
  std::uint32_t num_scripted;
  std::uint32_t num_advice;
  std::uint8_t terminated;
  std::uint8_t truncated;
  double time_s;
  scene::EpisodeScore score;
};

/// Then: vehicle_id, xy_m, node_features, edge_ptr, edge_src, edge_features.
struct FrameHead {
  std::uint32_t mark;
  std::uint32_t nodes;
  std::uint32_t edges;
  std::uint32_t features;
  double time_s;
  std::array<float, kGlobals> globals;
};

constexpr std::size_t padded(std::size_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

}  // namespace traffic::rollout
