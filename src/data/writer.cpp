// DatasetWriter: writes a data set file episode by episode (traffic/data/writer.h).
#include "traffic/data/writer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attributes.h"
#include "column_file.h"

namespace traffic::data {
namespace {

namespace fs = std::filesystem;

FileInfo checked(FileInfo info) {
  if (info.node_features.empty() || info.edge_features.size() != kNumEdgeFeatures ||
      info.global_features.size() != kNumGlobalFeatures) {
    throw DataError(
        "a data set has at least one node feature, {} edge and {} global features; "
        "found {}, {} and {}",
        kNumEdgeFeatures, kNumGlobalFeatures, info.node_features.size(), info.edge_features.size(),
        info.global_features.size());
  }
  if (info.controller_names.empty() || info.controller_names.size() > 256) {
    throw DataError("a data set names 1 to 256 controllers, found {}",
                    info.controller_names.size());
  }
  return info;
}

}  // namespace

struct DatasetWriter::Impl {
  Impl(const fs::path& path, FileInfo file_info, const WriterOptions& options);

  void append(const scene::GraphFrame& frame);
  void finish();

  ColumnWriter& column(Column name) { return file.column(static_cast<std::size_t>(name)); }
  template <typename T>
  void append_value(Column name, T value) {
    column(name).append_values(std::span<const T>(&value, 1));
  }
  [[nodiscard]] std::string where(const scene::GraphFrame& frame) const {
    return fmt::format("episode with seed {}, frame {} (time {} s)", label.seed,
                       num_frames - first_frame, frame.time_s);
  }
  void check_structure(const scene::GraphFrame& frame) const;
  void check_values(const scene::GraphFrame& frame) const;
  void check_finite(const scene::GraphFrame& frame, std::span<const float> values,
                    const char* what) const;
  void append_features(const scene::GraphFrame& frame, Column name, std::span<const float> values,
                       const FeatureTable& table);

  FileInfo info;
  int position_column;
  ColumnFile file;
  EpisodeLabel label;
  bool episode_open = false;
  std::int64_t num_episodes = 0;
  std::int64_t num_frames = 0;
  std::int64_t first_frame = 0;
  std::vector<float> positions;
  std::vector<std::uint16_t> degrees;
};

DatasetWriter::Impl::Impl(const fs::path& path, FileInfo file_info, const WriterOptions& options)
    : info(checked(std::move(file_info))),
      position_column(feature_index(info.node_features, kPositionFeature)),
      file(path, options.compression_level, options.encoder_threads) {
  info.float16 = options.float16;
  for (const ColumnSpec& spec : column_specs()) {
    const Element element = spec.may_be_f16 && options.float16 ? Element::kF16 : spec.element;
    const int width = spec.width > 0 ? spec.width : static_cast<int>(info.node_features.size());
    file.add(spec, element, width);
  }
  append_value<std::int64_t>(Column::kFrameNodePtr, 0);
  append_value<std::int64_t>(Column::kFrameEdgePtr, 0);
}

void DatasetWriter::Impl::check_structure(const scene::GraphFrame& frame) const {
  const std::size_t nodes = frame.vehicle_id.size();
  const std::size_t edges = frame.edge_src.size();
  if (frame.xy_m.size() != 2 * nodes || frame.edge_ptr.size() != nodes + 1 ||
      frame.node_features.size() != nodes * info.node_features.size() ||
      frame.edge_features.size() != edges * kNumEdgeFeatures) {
    throw DataError(
        "{}: the sizes of the arrays contradict each other: {} vehicles, {} edges, {} node "
        "features, {} edge features, {} coordinates and {} edge pointers",
        where(frame), nodes, edges, frame.node_features.size(), frame.edge_features.size(),
        frame.xy_m.size(), frame.edge_ptr.size());
  }
  if (frame.edge_ptr.front() != 0 || frame.edge_ptr.back() != static_cast<std::int32_t>(edges)) {
    throw DataError("{}: edge pointers run from {} to {}, expected 0 to {}", where(frame),
                    frame.edge_ptr.front(), frame.edge_ptr.back(), edges);
  }
  for (std::size_t node = 0; node < nodes; ++node) {
    const auto degree = frame.edge_ptr[node + 1] - frame.edge_ptr[node];
    if (degree < 0 || degree > std::numeric_limits<std::uint16_t>::max()) {
      throw DataError("{}: node {} has {} incoming edges, expected 0 to 65535", where(frame), node,
                      degree);
    }
  }
  for (const auto src : frame.edge_src) {
    if (src < 0 || static_cast<std::size_t>(src) >= nodes) {
      throw DataError("{}: an edge starts at node {}, but there are {} nodes", where(frame), src,
                      nodes);
    }
  }
}

void DatasetWriter::Impl::check_finite(const scene::GraphFrame& frame,
                                       std::span<const float> values, const char* what) const {
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  if (bad != values.end()) {
    throw DataError(
        "{}: value {} of the {} is {}, expected finite numbers; the source of the frames computes "
        "a wrong value",
        where(frame), bad - values.begin(), what, *bad);
  }
}

void DatasetWriter::Impl::check_values(const scene::GraphFrame& frame) const {
  if (!std::isfinite(frame.time_s)) throw DataError("{}: the time is not finite", where(frame));
  check_finite(frame, frame.node_features, "node features");
  check_finite(frame, frame.edge_features, "edge features");
  check_finite(frame, frame.xy_m, "coordinates");
  check_finite(frame, frame.global_features, "global features");
}

void DatasetWriter::Impl::append_features(const scene::GraphFrame& frame, Column name,
                                          std::span<const float> values,
                                          const FeatureTable& table) {
  const std::int64_t bad = column(name).append_features(values);
  if (bad >= 0) {
    const auto& feature = table[static_cast<std::size_t>(bad) % table.size()];
    throw DataError("{}: {} is {} {}, more than float16 holds (65504); write float32", where(frame),
                    feature.name, values[static_cast<std::size_t>(bad)], feature.unit);
  }
}

void DatasetWriter::Impl::append(const scene::GraphFrame& frame) {
  check_structure(frame);
  check_values(frame);
  file.store_packed();
  const std::size_t nodes = frame.vehicle_id.size();
  const std::size_t width = info.node_features.size();
  positions.resize(nodes);
  degrees.resize(nodes);
  for (std::size_t node = 0; node < nodes; ++node) {
    positions[node] = frame.node_features[node * width + static_cast<std::size_t>(position_column)];
    degrees[node] = static_cast<std::uint16_t>(frame.edge_ptr[node + 1] - frame.edge_ptr[node]);
  }
  append_features(frame, Column::kNodeFeatures, frame.node_features, info.node_features);
  append_features(frame, Column::kEdgeFeatures, frame.edge_features, info.edge_features);
  column(Column::kNodePosition).append_values<float>(positions);
  column(Column::kNodeXy).append_values<float>(frame.xy_m);
  column(Column::kNodeVehicleId).append_values<std::uint32_t>(frame.vehicle_id);
  column(Column::kNodeInDegree).append_values<std::uint16_t>(degrees);
  column(Column::kEdgeSrc).append_values<std::int32_t>(frame.edge_src);
  append_value(Column::kFrameTime, frame.time_s);
  column(Column::kFrameGlobalFeatures).append_values<float>(frame.global_features);
  append_value(Column::kFrameNodePtr, column(Column::kNodeVehicleId).rows());
  append_value(Column::kFrameEdgePtr, column(Column::kEdgeSrc).rows());
  ++num_frames;
}

void DatasetWriter::Impl::finish() {
  info.content_hash = file.finish_columns();
  write_attributes(file.id(), info);
  file.commit();
}

DatasetWriter::DatasetWriter(const fs::path& path, FileInfo info, const WriterOptions& options)
    : impl_(std::make_unique<Impl>(path, std::move(info), options)) {}

DatasetWriter::~DatasetWriter() = default;

void DatasetWriter::begin_episode(const EpisodeLabel& label) {
  TRAFFIC_CHECK(!impl_->episode_open, "the episode with seed {} is still open", impl_->label.seed);
  if (label.controller >= impl_->info.controller_names.size()) {
    throw DataError("controller {} does not exist: the file names {} controllers, counted from 0",
                    label.controller, impl_->info.controller_names.size());
  }
  impl_->label = label;
  impl_->first_frame = impl_->num_frames;
  impl_->episode_open = true;
}

void DatasetWriter::set_seed(std::uint64_t seed) {
  TRAFFIC_CHECK(impl_->episode_open, "set_seed() was called without an open episode");
  impl_->label.seed = seed;
}

void DatasetWriter::append(const scene::GraphFrame& frame) {
  TRAFFIC_CHECK(impl_->episode_open, "append() was called without an open episode");
  impl_->append(frame);
}

void DatasetWriter::end_episode() {
  TRAFFIC_CHECK(impl_->episode_open, "end_episode() was called without an open episode");
  const std::int64_t frames = impl_->num_frames - impl_->first_frame;
  if (frames == 0) throw DataError("the episode with seed {} has no frame", impl_->label.seed);
  impl_->append_value(Column::kEpisodeSeed, impl_->label.seed);
  impl_->append_value(Column::kEpisodeFirstFrame, impl_->first_frame);
  impl_->append_value(Column::kEpisodeNumFrames, frames);
  impl_->append_value(Column::kEpisodeSplit, static_cast<std::uint8_t>(impl_->label.split));
  impl_->append_value(Column::kEpisodeDemandScale, impl_->label.demand_scale);
  impl_->append_value(Column::kEpisodeController, impl_->label.controller);
  impl_->episode_open = false;
  ++impl_->num_episodes;
}

void DatasetWriter::finish() {
  TRAFFIC_CHECK(!impl_->episode_open, "the episode with seed {} is still open", impl_->label.seed);
  if (impl_->num_episodes == 0) throw DataError("a data set needs at least one episode");
  impl_->finish();
}

void DatasetWriter::mark_missing(std::span<const std::string_view> names) {
  for (const auto name : names) {
    data::mark_missing(impl_->info.node_features, name);
    data::mark_missing(impl_->info.global_features, name);
  }
}

std::int64_t DatasetWriter::num_episodes() const { return impl_->num_episodes; }
std::int64_t DatasetWriter::num_frames() const { return impl_->num_frames; }

}  // namespace traffic::data
