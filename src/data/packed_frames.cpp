// The functions of DatasetReader that read and decode frames.
#include <algorithm>
#include <bit>
#include <cmath>

#include "reader_impl.h"
#include "traffic/core/float16.h"

namespace traffic::data {
namespace {

/// Whether all values are finite. A value is not finite if all bits of its exponent are set. The
/// test has no branch, so the compiler can vectorise the loop.
bool all_finite(std::span<const float> values) {
  std::uint32_t bad = 0;
  for (const float value : values) {
    bad |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(value) & 0x7f800000U) ==
                                      0x7f800000U);
  }
  return bad == 0;
}

void check_finite(const ColumnReader& column, std::span<const float> values, std::int64_t first_row,
                  std::size_t width) {
  if (all_finite(values)) return;
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  const auto index = static_cast<std::size_t>(bad - values.begin());
  throw DataError("{}: row {} has {} at index {}, expected finite numbers; {}", column.where(),
                  first_row + static_cast<std::int64_t>(index / width), *bad, index % width,
                  kRemedy);
}

}  // namespace

void DatasetReader::Impl::read_features(Column name, std::int64_t first, std::int64_t count,
                                        os::PageVector<float>& out) const {
  const ColumnReader& from = column(name);
  const auto width = static_cast<std::size_t>(from.width());
  out.resize(static_cast<std::size_t>(count) * width);
  if (from.element() == Element::kF16) {
    thread_local std::vector<std::uint16_t> halves;
    halves.resize(out.size());
    from.read_values<std::uint16_t>(first, count, halves);
    std::transform(halves.begin(), halves.end(), out.begin(), half_to_float);
  } else {
    from.read_values<float>(first, count, out);
  }
  check_finite(from, out, first, width);
}

/// Reads and checks the edges of the frames in `out`, whose nodes must have been read before.
void DatasetReader::Impl::read_edges(std::int64_t first_frame, PackedFrames& out) const {
  const std::int64_t count = out.num_frames();
  const auto first = static_cast<std::size_t>(first_frame);
  const std::int64_t first_edge = edge_ptr[first];
  const std::int64_t edges = edge_ptr[first + static_cast<std::size_t>(count)] - first_edge;
  const std::size_t nodes = out.vehicle_id.size();
  std::vector<std::uint16_t> degree(nodes);
  column(Column::kNodeInDegree)
      .read_values<std::uint16_t>(node_ptr[first], static_cast<std::int64_t>(nodes), degree);
  out.edge_src.resize(static_cast<std::size_t>(edges));
  column(Column::kEdgeSrc).read_values<std::int32_t>(first_edge, edges, out.edge_src);
  read_features(Column::kEdgeFeatures, first_edge, edges, out.edge_features);

  out.edge_ptr.assign(1, 0);
  out.edge_ptr.reserve(nodes + 1);
  for (std::int64_t f = 0; f < count; ++f) {
    const auto at = static_cast<std::size_t>(f);
    const std::int32_t frame_nodes = out.node_ptr[at + 1] - out.node_ptr[at];
    std::int64_t end = out.edge_ptr.back();
    for (std::int32_t node = out.node_ptr[at]; node < out.node_ptr[at + 1]; ++node) {
      end += degree[static_cast<std::size_t>(node)];
      out.edge_ptr.push_back(static_cast<std::int32_t>(end));
    }
    const std::int64_t expected = edge_ptr[first + at + 1] - first_edge;
    if (end != expected) {
      throw DataError(
          "{}: the in-degrees of frame {} give {} as the end of its edges, but frames/edge_ptr "
          "gives {}; {}",
          column(Column::kNodeInDegree).where(), first_frame + f, end + first_edge,
          expected + first_edge, kRemedy);
    }
    for (std::int64_t e = edge_ptr[first + at] - first_edge; e < expected; ++e) {
      const std::int32_t src = out.edge_src[static_cast<std::size_t>(e)];
      if (src < 0 || src >= frame_nodes) {
        throw DataError("{}: edge {} of frame {} starts at node {}, but the frame has {} nodes; {}",
                        column(Column::kEdgeSrc).where(), e + first_edge, first_frame + f, src,
                        frame_nodes, kRemedy);
      }
    }
  }
}

PackedFrames DatasetReader::read_frames(std::int64_t first_frame, std::int64_t count) const {
  TRAFFIC_CHECK(first_frame >= 0 && count >= 0 && first_frame + count <= num_frames(),
                "cannot read {1} frames from frame {0} on: the file has {2} frames", first_frame,
                count, num_frames());
  const auto first = static_cast<std::size_t>(first_frame);
  const auto end = static_cast<std::size_t>(first_frame + count);
  const std::int64_t first_node = impl_->node_ptr[first];
  const std::int64_t nodes = impl_->node_ptr[end] - first_node;
  const std::int64_t edges = impl_->edge_ptr[end] - impl_->edge_ptr[first];
  if (nodes > INT32_MAX || edges > INT32_MAX) {
    throw DataError(
        "{}: {} frames from frame {} have {} nodes and {} edges, too many to be read "
        "at once",
        impl_->path, count, first_frame, nodes, edges);
  }
  PackedFrames out;
  out.first_frame = first_frame;
  out.node_ptr.reserve(static_cast<std::size_t>(count) + 1);
  for (std::size_t f = first; f <= end; ++f) {
    out.node_ptr.push_back(static_cast<std::int32_t>(impl_->node_ptr[f] - first_node));
  }
  const auto n = static_cast<std::size_t>(nodes);
  out.vehicle_id.resize(n);
  out.position_m.resize(n);
  out.xy_m.resize(2 * n);
  const auto& position = impl_->column(Column::kNodePosition);
  const auto& xy = impl_->column(Column::kNodeXy);
  impl_->column(Column::kNodeVehicleId)
      .read_values<std::uint32_t>(first_node, nodes, out.vehicle_id);
  position.read_values<float>(first_node, nodes, out.position_m);
  xy.read_values<float>(first_node, nodes, out.xy_m);
  check_finite(position, out.position_m, first_node, 1);
  check_finite(xy, out.xy_m, first_node, 2);
  impl_->read_features(Column::kNodeFeatures, first_node, nodes, out.node_features);
  if (impl_->info.float16) {
    // float16 has a resolution of only 1 m for positions of 1 to 2 km. The position therefore comes
    // from the column nodes/position_m, which is float32.
    for (std::size_t i = 0; i < n; ++i) {
      out.node_features[i * impl_->num_features + impl_->position_column] = out.position_m[i];
    }
  }
  impl_->read_edges(first_frame, out);
  return out;
}

std::vector<double> DatasetReader::read_times(std::int64_t first_frame, std::int64_t count) const {
  std::vector<double> times(static_cast<std::size_t>(count));
  impl_->column(Column::kFrameTime).read_values<double>(first_frame, count, times);
  return times;
}

scene::GraphFrame DatasetReader::read_graph_frame(std::int64_t frame) const {
  PackedFrames packed = read_frames(frame, 1);
  scene::GraphFrame out;
  out.time_s = read_times(frame, 1).at(0);
  out.vehicle_id = std::move(packed.vehicle_id);
  out.xy_m = std::move(packed.xy_m);
  out.node_features.assign(packed.node_features.begin(), packed.node_features.end());
  out.edge_ptr = std::move(packed.edge_ptr);
  out.edge_src = std::move(packed.edge_src);
  out.edge_features.assign(packed.edge_features.begin(), packed.edge_features.end());
  const auto& global = impl_->column(Column::kFrameGlobalFeatures);
  global.read_values<float>(frame, 1, out.global_features);
  check_finite(global, out.global_features, frame, kNumGlobalFeatures);
  return out;
}

}  // namespace traffic::data
