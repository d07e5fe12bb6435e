// Defines samples: the frames of an episode that are anchors, and the division of a frame with many
// vehicles into crops.
#include "traffic/data/windows.h"

#include <algorithm>
#include <numeric>

#include "traffic/core/error.h"

namespace traffic::data {
namespace {

float coordinate(std::span<const float> xy_m, std::int32_t node, std::size_t axis) {
  return xy_m[2 * static_cast<std::size_t>(node) + axis];
}

/// The longer axis of the nodes' bounding box: 0 for x, 1 for y.
std::size_t longer_axis(std::span<const float> xy_m, std::span<const std::int32_t> nodes) {
  float low[2]{};
  float high[2]{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    low[axis] = high[axis] = coordinate(xy_m, nodes[0], axis);
  }
  for (const auto node : nodes) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const float value = coordinate(xy_m, node, axis);
      low[axis] = std::min(low[axis], value);
      high[axis] = std::max(high[axis], value);
    }
  }
  return high[1] - low[1] > high[0] - low[0] ? 1 : 0;
}

}  // namespace

std::int64_t num_crops(std::int64_t vehicles, std::int64_t max_vehicles) {
  return (vehicles + max_vehicles - 1) / max_vehicles;
}

std::vector<std::int32_t> crop_nodes(std::span<const float> xy_m, std::int64_t max_vehicles,
                                     std::int64_t index) {
  std::vector<std::int32_t> nodes(xy_m.size() / 2);
  std::iota(nodes.begin(), nodes.end(), 0);
  auto cells =
      static_cast<std::size_t>(num_crops(static_cast<std::int64_t>(nodes.size()), max_vehicles));
  auto cell = static_cast<std::size_t>(index);
  TRAFFIC_CHECK(cell < cells, "crop {} does not exist: the frame has {} crops, counted from 0",
                index, cells);
  std::span<std::int32_t> region(nodes);
  // Each step divides the region and continues with the half that contains crop `index`.
  while (cells > 1) {
    const std::size_t left_cells = cells / 2;
    const std::size_t left_size = region.size() * left_cells / cells;
    const std::size_t axis = longer_axis(xy_m, region);
    const auto before = [&](std::int32_t a, std::int32_t b) {
      const float at_a = coordinate(xy_m, a, axis);
      const float at_b = coordinate(xy_m, b, axis);
      return at_a != at_b ? at_a < at_b : a < b;
    };
    std::nth_element(region.begin(), region.begin() + static_cast<std::ptrdiff_t>(left_size),
                     region.end(), before);
    if (cell < left_cells) {
      region = region.first(left_size);
      cells = left_cells;
    } else {
      region = region.subspan(left_size);
      cell -= left_cells;
      cells -= left_cells;
    }
  }
  std::vector<std::int32_t> crop(region.begin(), region.end());
  std::sort(crop.begin(), crop.end());
  return crop;
}

std::int64_t num_anchors(std::int64_t episode_frames, const WindowOptions& options) {
  const std::int64_t room = episode_frames - options.history_frames - options.horizon_frames;
  return room < 0 ? 0 : room / options.stride_frames + 1;
}

}  // namespace traffic::data
