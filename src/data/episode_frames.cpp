// Reads the frames of an episode one after the other from a data set file.
#include "traffic/data/episode_frames.h"

#include <algorithm>
#include <vector>

namespace traffic::data {
namespace {

/// Extracts frame f. PackedFrames do not contain times and global features; the caller adds them.
scene::GraphFrame unpack(const PackedFrames& packed, std::size_t f, std::size_t num_features) {
  const auto node = static_cast<std::size_t>(packed.node_ptr[f]);
  const auto end_node = static_cast<std::size_t>(packed.node_ptr[f + 1]);
  const auto edge = static_cast<std::size_t>(packed.edge_ptr[node]);
  const auto end_edge = static_cast<std::size_t>(packed.edge_ptr[end_node]);
  const auto copy = [](const auto& from, std::size_t first, std::size_t end, auto& to) {
    to.assign(from.begin() + static_cast<std::ptrdiff_t>(first),
              from.begin() + static_cast<std::ptrdiff_t>(end));
  };
  scene::GraphFrame frame;
  copy(packed.vehicle_id, node, end_node, frame.vehicle_id);
  copy(packed.xy_m, 2 * node, 2 * end_node, frame.xy_m);
  copy(packed.node_features, num_features * node, num_features * end_node, frame.node_features);
  copy(packed.edge_ptr, node, end_node + 1, frame.edge_ptr);
  for (auto& ptr : frame.edge_ptr) ptr -= static_cast<std::int32_t>(edge);
  copy(packed.edge_src, edge, end_edge, frame.edge_src);
  copy(packed.edge_features, kNumEdgeFeatures * edge, kNumEdgeFeatures * end_edge,
       frame.edge_features);
  return frame;
}

}  // namespace

void for_each_frame(const DatasetReader& file, const Episode& episode,
                    const std::function<void(scene::GraphFrame&)>& visit) {
  std::vector<float> global;
  const std::int64_t end = episode.first_frame + episode.num_frames;
  for (std::int64_t first = episode.first_frame, count = 0; first < end; first += count) {
    count = file.frames_at_once(first, end);
    const PackedFrames packed = file.read_frames(first, count);
    const auto times = file.read_times(first, count);
    global.resize(static_cast<std::size_t>(count) * kNumGlobalFeatures);
    file.read_raw(Column::kFrameGlobalFeatures, first, count,
                  std::as_writable_bytes(std::span(global)));
    for (std::size_t f = 0; f < static_cast<std::size_t>(count); ++f) {
      auto frame = unpack(packed, f, file.info().node_features.size());
      frame.time_s = times[f];
      std::copy_n(global.begin() + static_cast<std::ptrdiff_t>(f * kNumGlobalFeatures),
                  kNumGlobalFeatures, frame.global_features.begin());
      visit(frame);
    }
  }
}

WriterOptions writer_options_of(const DatasetReader& file) {
  const bool deflate = file.storage(Column::kNodeFeatures).deflate;
  return {.float16 = file.info().float16,
          .compression_level = deflate ? WriterOptions{}.compression_level : 0};
}

EpisodeLabel label_of(const Episode& episode) {
  return {.seed = episode.seed,
          .split = episode.split,
          .demand_scale = episode.demand_scale,
          .controller = episode.controller};
}

}  // namespace traffic::data
