/// Defines the samples of recorded traffic: which frames and which vehicles a sample contains.
/// Dataset enumerates samples with these functions.
///
/// A sample is given by an episode, an anchor frame and a crop. A model sees history_frames frames,
/// of which the anchor is the last, and predicts the horizon_frames frames after the anchor.
///
/// A crop is a group of neighbouring vehicles in the anchor frame. Recursive bisection divides the
/// vehicles of this frame into crops of at most max_vehicles each. Every vehicle of an anchor frame
/// is thus in exactly one sample of this frame.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace traffic::data {

/// Which anchors an episode has, and how large its samples are.
struct WindowOptions {
  std::int64_t history_frames = 10;  ///< including the anchor; at least 1
  std::int64_t horizon_frames = 5;   ///< at least 1
  std::int64_t max_vehicles = 16;    ///< maximum number of vehicles in a crop; at least 1
  std::int64_t stride_frames = 5;    ///< frames from one anchor to the next; at least 1
  std::int64_t max_time_shift = 0;   ///< frames that augmentation may move an anchor either way
  /// Maximum number of samples of a split. The samples are spread evenly over the anchors of the
  /// split. 0 means all samples.
  std::int64_t max_samples = 0;
};

/// Number of crops of a frame: the smallest number such that a crop has at most max_vehicles.
[[nodiscard]] std::int64_t num_crops(std::int64_t vehicles, std::int64_t max_vehicles);

/// The vehicles of one crop, as ascending node numbers of the frame. Bisection divides a group of
/// vehicles across the longer side of its bounding box, so that the sizes of crops differ by at
/// most one. Vehicles at equal coordinates are ordered by node number.
/// @param xy_m [N, 2] positions of all vehicles of the frame
/// @param index 0 .. num_crops - 1
[[nodiscard]] std::vector<std::int32_t> crop_nodes(std::span<const float> xy_m,
                                                   std::int64_t max_vehicles, std::int64_t index);

/// Number of anchors of an episode. The first anchor is frame history_frames - 1; the next anchors
/// follow every stride_frames frames. An anchor needs horizon_frames frames after it.
[[nodiscard]] std::int64_t num_anchors(std::int64_t episode_frames, const WindowOptions& options);

}  // namespace traffic::data
