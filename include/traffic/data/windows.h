/// Defines samples: windows of frames, and the vehicles in them.
///
/// A sample is (episode, anchor frame, crop). A model sees its history_frames frames, of which the
/// anchor is the last, and predicts the horizon_frames frames after the anchor. The vehicles of a
/// sample are a crop of the anchor frame. Recursive bisection cuts the vehicles of this frame into
/// regions (crops) with at most max_vehicles each, so every vehicle of an anchor frame is in
/// exactly one sample of this frame.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace traffic::data {

struct WindowOptions {
  std::int64_t history_frames = 10;  ///< including the anchor; at least 1
  std::int64_t horizon_frames = 5;   ///< at least 1
  std::int64_t max_vehicles = 16;    ///< at least 1
  std::int64_t stride_frames = 5;    ///< between anchors; at least 1
  std::int64_t max_time_shift = 0;   ///< frames that augmentation may move an anchor either way
  std::int64_t max_samples =
      0;  ///< largest number of samples of a split, spread over all its anchors; 0: all
};

/// The smallest number of regions that cuts a frame into regions of at most max_vehicles.
[[nodiscard]] std::int64_t num_crops(std::int64_t vehicles, std::int64_t max_vehicles);

/// Vehicles of one region, as ascending nodes of the frame. Bisection halves a region across the
/// longer side of its bounding box, so that sizes differ by at most one; ties are broken by node.
/// @param xy_m [N, 2]
/// @param index 0 .. num_crops - 1
[[nodiscard]] std::vector<std::int32_t> crop_nodes(std::span<const float> xy_m,
                                                   std::int64_t max_vehicles, std::int64_t index);

/// Number of anchors of an episode: the first is frame history_frames - 1, then every stride_frames
/// as long as the horizon fits.
[[nodiscard]] std::int64_t num_anchors(std::int64_t episode_frames, const WindowOptions& options);

}  // namespace traffic::data
