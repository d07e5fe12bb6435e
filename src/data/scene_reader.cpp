// SceneReader: reads recorded scenes from a file (traffic/data/scene_file.h).
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "column_reader.h"
#include "scene_columns.h"
#include "traffic/core/hash.h"
#include "traffic/core/text.h"
#include "traffic/driving/scene_check.h"

namespace traffic::data {
namespace {

/// Limit of the memory for columns that are decoded together: a fixed amount plus a multiple of the
/// file size. Without it, a file that was made to do harm could fill the memory, because deflate
/// compresses repeated bytes by a factor of 1000.
constexpr std::int64_t kFixedBytes = 64LL << 20;
constexpr std::int64_t kBytesPerFileByte = 32;
/// Number of bytes that are decoded together when the hash of the content is computed.
constexpr std::int64_t kHashedBytes = 4LL << 20;

std::size_t as_size(std::int64_t value) { return static_cast<std::size_t>(value); }

/// Rows first to end - 1 of a column.
struct RowRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t count() const { return end - first; }
};

}  // namespace

struct SceneReader::Impl {
  explicit Impl(std::string file_path)
      : path(std::move(file_path)),
        file(open_data_file(path)),
        info(read_scene_attributes(file.get(), path)),
        file_bytes(static_cast<std::int64_t>(std::filesystem::file_size(path))) {
    columns.reserve(kNumSceneFields);
    for (const ColumnLayout& layout : scene_columns()) {
      columns.emplace_back(file.get(), path, file_bytes, layout, layout.width);
    }
    check_tables();
    read_strings();
    read_maps();
    read_episodes();
  }

  [[nodiscard]] const ColumnReader& column(SceneField field) const {
    return columns[static_cast<std::size_t>(field)];
  }
  [[nodiscard]] std::int64_t rows(SceneField field) const { return column(field).rows(); }

  [[nodiscard]] std::int64_t bytes_of(SceneField field, std::int64_t rows) const {
    return rows * static_cast<std::int64_t>(column(field).row_bytes());
  }

  void check_memory(std::int64_t bytes) const {
    if (bytes > kFixedBytes + kBytesPerFileByte * file_bytes) {
      throw DataError("{}: {} would be decoded at once, too much for a file of {}; {}", path,
                      human_bytes(bytes), human_bytes(file_bytes), kRemedy);
    }
  }
  /// Checks the memory limit for the columns that the constructor decodes.
  void check_tables() const {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < kNumSceneFields; ++i) {
      const auto field = static_cast<SceneField>(i);
      // The constructor decodes these columns; read() decodes the others episode by episode.
      if (field < SceneField::kVehicleType || field == SceneField::kRoutePtr ||
          field == SceneField::kFrameNodePtr) {
        bytes += bytes_of(field, rows(field));
      }
    }
    check_memory(bytes);
  }
  /// Checks the memory limit for the rows that read() decodes.
  void check_episode(RowRange frames, RowRange nodes, RowRange routes, RowRange vehicles,
                     RowRange signals) const {
    using F = SceneField;
    std::int64_t bytes =
        bytes_of(F::kFrameTime, frames.count()) + bytes_of(F::kFrameSignals, signals.count()) +
        bytes_of(F::kRouteEdge,
                 route_edge_ptr[as_size(routes.end)] - route_edge_ptr[as_size(routes.first)]);
    for (auto i = static_cast<std::size_t>(F::kVehicleType); i < kNumSceneFields; ++i) {
      const auto field = static_cast<F>(i);
      if (field <= F::kVehicleWidth) bytes += bytes_of(field, vehicles.count());
      if (field >= F::kNodeVehicle) bytes += bytes_of(field, nodes.count());
    }
    check_memory(bytes);
  }

  template <typename T>
  [[nodiscard]] std::vector<T> read(SceneField field, RowRange range) const {
    std::vector<T> values(as_size(range.count()));
    column(field).read_values<T>(range.first, range.count(), values);
    return values;
  }
  template <typename T>
  [[nodiscard]] std::vector<T> read(SceneField field) const {
    return read<T>(field, {0, rows(field)});
  }

  /// Reads a column ...Ptr (see SceneField). Checks that it has objects + 1 rows and rises from 0
  /// to `parts`, the number of rows of the other group.
  [[nodiscard]] std::vector<std::int64_t> read_ptr(SceneField field, std::int64_t objects,
                                                   std::int64_t parts) const;
  /// Checks that the columns `first` to `last` have equally many rows.
  void check_rows(SceneField first, SceneField last) const;
  [[nodiscard]] const std::string& string(SceneField field, std::int32_t index) const;
  [[nodiscard]] std::vector<std::string> read_strings(SceneField field, RowRange range) const;

  void read_strings();
  void read_maps();
  [[nodiscard]] driving::RoadMap read_map(std::size_t index,
                                          std::span<const std::int64_t> point_ptr) const;
  void read_episodes();
  void read_routes(RowRange routes, driving::RecordedScene& scene) const;
  void read_vehicles(RowRange vehicles, driving::RecordedScene& scene) const;
  void read_nodes(RowRange nodes, driving::RecordedScene& scene) const;

  std::string path;
  h5::File file;
  SceneFileInfo info;
  std::int64_t file_bytes;
  std::vector<ColumnReader> columns;
  std::vector<std::string> strings;
  // For each map, episode, route or frame i, the rows of another group that belong to it: ptr[i] to
  // ptr[i + 1] - 1.
  std::vector<std::int64_t> lane_ptr;    ///< [maps + 1]
  std::vector<std::int64_t> edge_ptr;    ///< [maps + 1]
  std::vector<std::int64_t> link_ptr;    ///< [maps + 1]
  std::vector<std::int64_t> signal_ptr;  ///< [maps + 1]
  std::vector<std::shared_ptr<const driving::RoadMap>> maps;
  std::vector<SceneEpisode> episodes;
  std::vector<std::int64_t> vehicle_ptr;     ///< [episodes + 1]
  std::vector<std::int64_t> route_ptr;       ///< [episodes + 1]
  std::vector<std::int64_t> signals_begin;   ///< [episodes + 1] rows of frames/signals
  std::vector<std::int64_t> route_edge_ptr;  ///< [routes + 1]
  std::vector<std::int64_t> node_ptr;        ///< [frames + 1]
};

std::vector<std::int64_t> SceneReader::Impl::read_ptr(SceneField field, std::int64_t objects,
                                                      std::int64_t parts) const {
  const ColumnReader& from = column(field);
  if (from.rows() != objects + 1 || from.rows() < 1) {
    throw DataError("{} has {} rows, expected {}; {}", from.where(), from.rows(),
                    std::max<std::int64_t>(objects, 0) + 1, kRemedy);
  }
  auto ptr = read<std::int64_t>(field);
  if (ptr.front() != 0 || ptr.back() != parts) {
    throw DataError("{} runs from {} to {}, expected 0 to {}; {}", from.where(), ptr.front(),
                    ptr.back(), parts, kRemedy);
  }
  const auto falls = std::adjacent_find(ptr.begin(), ptr.end(), std::greater<>());
  if (falls != ptr.end()) {
    throw DataError("{} falls from {} to {} in row {}; expected numbers that rise; {}",
                    from.where(), *falls, falls[1], falls - ptr.begin() + 1, kRemedy);
  }
  return ptr;
}

void SceneReader::Impl::check_rows(SceneField first, SceneField last) const {
  for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last); ++i) {
    if (columns[i].rows() != rows(first)) {
      throw DataError("{} has {} rows, but {} has {}; {}", columns[i].where(), columns[i].rows(),
                      scene_columns()[static_cast<std::size_t>(first)].path(), rows(first),
                      kRemedy);
    }
  }
}

const std::string& SceneReader::Impl::string(SceneField field, std::int32_t index) const {
  if (index < 0 || static_cast<std::size_t>(index) >= strings.size()) {
    throw DataError("{} refers to string {}, but the file has {} strings; {}",
                    column(field).where(), index, strings.size(), kRemedy);
  }
  return strings[static_cast<std::size_t>(index)];
}

std::vector<std::string> SceneReader::Impl::read_strings(SceneField field, RowRange range) const {
  std::vector<std::string> texts;
  for (const auto index : read<std::int32_t>(field, range)) texts.push_back(string(field, index));
  return texts;
}

void SceneReader::Impl::read_strings() {
  const auto bytes = read<char>(SceneField::kStringBytes);
  const std::int64_t count = rows(SceneField::kStringPtr) - 1;
  const auto ptr = read_ptr(SceneField::kStringPtr, count, rows(SceneField::kStringBytes));
  for (std::size_t i = 0; i + 1 < ptr.size(); ++i) {
    strings.emplace_back(bytes.data() + ptr[i], as_size(ptr[i + 1] - ptr[i]));
  }
}

void SceneReader::Impl::read_maps() {
  using F = SceneField;
  check_rows(F::kLaneEdge, F::kLaneSpeedLimit);
  if (rows(F::kLaneName) != rows(F::kLaneEdge)) {
    throw DataError("{} has {} rows, expected {}; {}", column(F::kLaneName).where(),
                    rows(F::kLaneName), rows(F::kLaneEdge), kRemedy);
  }
  check_rows(F::kLinkFromLane, F::kLinkSignal);
  check_rows(F::kSignalLight, F::kSignalIndex);
  const std::int64_t num_maps = rows(F::kMapName);
  lane_ptr = read_ptr(F::kMapLanePtr, num_maps, rows(F::kLaneName));
  edge_ptr = read_ptr(F::kMapEdgePtr, num_maps, rows(F::kEdgeName));
  link_ptr = read_ptr(F::kMapLinkPtr, num_maps, rows(F::kLinkFromLane));
  signal_ptr = read_ptr(F::kMapSignalPtr, num_maps, rows(F::kSignalLight));
  const auto point_ptr = read_ptr(F::kLanePointPtr, rows(F::kLaneName), rows(F::kPointXy));
  for (std::size_t i = 0; i < as_size(num_maps); ++i) {
    auto map = std::make_shared<driving::RoadMap>(read_map(i, point_ptr));
    try {
      driving::check_map(*map);
    } catch (const DataError& error) {
      throw DataError("{}: {}; {}", path, error.what(), kRemedy);
    }
    maps.push_back(std::move(map));
  }
}

driving::RoadMap SceneReader::Impl::read_map(std::size_t index,
                                             std::span<const std::int64_t> point_ptr) const {
  using F = SceneField;
  const RowRange lanes{lane_ptr[index], lane_ptr[index + 1]};
  const RowRange links{link_ptr[index], link_ptr[index + 1]};
  const RowRange signals{signal_ptr[index], signal_ptr[index + 1]};
  driving::RoadMap map;
  const auto row = static_cast<std::int64_t>(index);
  map.name = read_strings(F::kMapName, {row, row + 1}).front();
  map.lanes = read_strings(F::kLaneName, lanes);
  map.edges = read_strings(F::kEdgeName, {edge_ptr[index], edge_ptr[index + 1]});
  map.edge = read<std::int32_t>(F::kLaneEdge, lanes);
  for (const auto kind : read<std::uint8_t>(F::kLaneKind, lanes)) {
    map.kind.push_back(static_cast<driving::LaneKind>(kind));
  }
  map.width_m = read<float>(F::kLaneWidth, lanes);
  map.speed_limit_mps = read<float>(F::kLaneSpeedLimit, lanes);
  const RowRange points{point_ptr[as_size(lanes.first)], point_ptr[as_size(lanes.end)]};
  for (std::int64_t lane = lanes.first; lane <= lanes.end; ++lane) {
    map.lane_begin.push_back(point_ptr[as_size(lane)] - points.first);
  }
  for (const auto& [x, y] : read<std::array<float, 2>>(F::kPointXy, points)) {
    map.points.push_back({x, y});
  }
  const auto from = read<std::int32_t>(F::kLinkFromLane, links);
  const auto to = read<std::int32_t>(F::kLinkToLane, links);
  const auto connector = read<std::int32_t>(F::kLinkConnector, links);
  const auto signal = read<std::int32_t>(F::kLinkSignal, links);
  for (std::size_t i = 0; i < from.size(); ++i) {
    map.links.push_back({from[i], to[i], connector[i], signal[i]});
  }
  const auto lights = read_strings(F::kSignalLight, signals);
  const auto positions = read<std::int32_t>(F::kSignalIndex, signals);
  for (std::size_t i = 0; i < lights.size(); ++i) map.signals.push_back({lights[i], positions[i]});
  return map;
}

void SceneReader::Impl::read_episodes() {
  using F = SceneField;
  check_rows(F::kEpisodeSeed, F::kEpisodeMap);
  check_rows(F::kVehicleType, F::kVehicleWidth);
  check_rows(F::kNodeVehicle, F::kNodeRoute);
  const std::int64_t count = rows(F::kEpisodeSeed);
  if (count == 0) throw DataError("{} has no episode; {}", path, kRemedy);
  route_edge_ptr = read_ptr(F::kRoutePtr, rows(F::kRoutePtr) - 1, rows(F::kRouteEdge));
  node_ptr = read_ptr(F::kFrameNodePtr, rows(F::kFrameTime), rows(F::kNodeVehicle));
  vehicle_ptr = read_ptr(F::kEpisodeVehiclePtr, count, rows(F::kVehicleType));
  route_ptr = read_ptr(F::kEpisodeRoutePtr, count, rows(F::kRoutePtr) - 1);
  const auto frame_ptr = read_ptr(F::kEpisodeFramePtr, count, rows(F::kFrameTime));
  const auto seed = read<std::uint64_t>(F::kEpisodeSeed);
  const auto split = read<std::uint8_t>(F::kEpisodeSplit);
  const auto demand = read<double>(F::kEpisodeDemandScale);
  const auto map = read<std::int32_t>(F::kEpisodeMap);
  signals_begin.push_back(0);
  for (std::size_t i = 0; i < as_size(count); ++i) {
    if (split[i] >= kNumSplits || !std::isfinite(demand[i]) || map[i] < 0 ||
        as_size(map[i]) >= maps.size()) {
      throw DataError(
          "{}: episode {} has split {}, demand scale {} and map {}; expected a split of 0 (train), "
          "1 (validation) or 2 (test), a finite scale and one of {} maps; {}",
          path, i, split[i], demand[i], map[i], maps.size(), kRemedy);
    }
    const std::int64_t frames = frame_ptr[i + 1] - frame_ptr[i];
    if (frames == 0) throw DataError("{}: episode {} has no frame; {}", path, i, kRemedy);
    episodes.push_back(
        {.seed = seed[i],
         .split = static_cast<Split>(split[i]),
         .demand_scale = demand[i],
         .map = map[i],
         .first_frame = frame_ptr[i],
         .num_frames = frames,
         .num_vehicles = vehicle_ptr[i + 1] - vehicle_ptr[i],
         .num_nodes = node_ptr[as_size(frame_ptr[i + 1])] - node_ptr[as_size(frame_ptr[i])]});
    const auto signals = static_cast<std::int64_t>(maps[as_size(map[i])]->signals.size());
    signals_begin.push_back(signals_begin.back() + frames * signals);
  }
  if (rows(F::kFrameSignals) != signals_begin.back()) {
    throw DataError(
        "{} has {} rows, expected {}: one state for every signal of the map in each frame; {}",
        column(F::kFrameSignals).where(), rows(F::kFrameSignals), signals_begin.back(), kRemedy);
  }
}

void SceneReader::Impl::read_routes(RowRange routes, driving::RecordedScene& scene) const {
  const RowRange edges{route_edge_ptr[as_size(routes.first)], route_edge_ptr[as_size(routes.end)]};
  for (std::int64_t route = routes.first; route <= routes.end; ++route) {
    scene.route_begin.push_back(route_edge_ptr[as_size(route)] - edges.first);
  }
  scene.route_edges = read<std::int32_t>(SceneField::kRouteEdge, edges);
}

void SceneReader::Impl::read_vehicles(RowRange vehicles, driving::RecordedScene& scene) const {
  auto types = read_strings(SceneField::kVehicleType, vehicles);
  const auto lengths = read<float>(SceneField::kVehicleLength, vehicles);
  const auto widths = read<float>(SceneField::kVehicleWidth, vehicles);
  for (std::size_t i = 0; i < types.size(); ++i) {
    scene.vehicles.push_back({std::move(types[i]), lengths[i], widths[i]});
  }
}

void SceneReader::Impl::read_nodes(RowRange nodes, driving::RecordedScene& scene) const {
  const auto vehicle = read<std::int32_t>(SceneField::kNodeVehicle, nodes);
  const auto xy = read<std::array<float, 2>>(SceneField::kNodeXy, nodes);
  const auto heading = read<float>(SceneField::kNodeHeading, nodes);
  const auto speed = read<float>(SceneField::kNodeSpeed, nodes);
  const auto lane = read<std::int32_t>(SceneField::kNodeLane, nodes);
  const auto route = read<std::int32_t>(SceneField::kNodeRoute, nodes);
  scene.nodes.resize(vehicle.size());
  for (std::size_t i = 0; i < vehicle.size(); ++i) {
    scene.nodes[i] = {vehicle[i], xy[i][0], xy[i][1], heading[i], speed[i], lane[i], route[i]};
  }
}

SceneReader::SceneReader(std::string path) : impl_(std::make_unique<Impl>(std::move(path))) {}
SceneReader::~SceneReader() = default;

const std::string& SceneReader::path() const { return impl_->path; }
std::int64_t SceneReader::file_bytes() const { return impl_->file_bytes; }
const SceneFileInfo& SceneReader::info() const { return impl_->info; }
std::span<const std::shared_ptr<const driving::RoadMap>> SceneReader::maps() const {
  return impl_->maps;
}
std::span<const SceneEpisode> SceneReader::episodes() const { return impl_->episodes; }
std::int64_t SceneReader::num_frames() const { return impl_->rows(SceneField::kFrameTime); }
std::int64_t SceneReader::num_nodes() const { return impl_->rows(SceneField::kNodeVehicle); }

driving::RecordedScene SceneReader::read(std::size_t episode) const {
  const SceneEpisode& row = impl_->episodes.at(episode);
  const RowRange frames{row.first_frame, row.first_frame + row.num_frames};
  const RowRange nodes{impl_->node_ptr[as_size(frames.first)],
                       impl_->node_ptr[as_size(frames.end)]};
  const RowRange routes{impl_->route_ptr[episode], impl_->route_ptr[episode + 1]};
  const RowRange vehicles{impl_->vehicle_ptr[episode], impl_->vehicle_ptr[episode + 1]};
  const RowRange signals{impl_->signals_begin[episode], impl_->signals_begin[episode + 1]};
  impl_->check_episode(frames, nodes, routes, vehicles, signals);
  driving::RecordedScene scene;
  scene.map = impl_->maps[as_size(row.map)];
  scene.seed = row.seed;
  impl_->read_routes(routes, scene);
  impl_->read_vehicles(vehicles, scene);
  scene.time_s = impl_->read<double>(SceneField::kFrameTime, frames);
  for (std::int64_t frame = frames.first; frame <= frames.end; ++frame) {
    scene.node_begin.push_back(impl_->node_ptr[as_size(frame)] - nodes.first);
  }
  scene.signals = impl_->read<std::uint8_t>(SceneField::kFrameSignals, signals);
  impl_->read_nodes(nodes, scene);
  try {
    driving::check_scene(scene);
  } catch (const DataError& error) {
    throw DataError("{}: episode {}: {}; {}", impl_->path, episode, error.what(), kRemedy);
  }
  return scene;
}

std::vector<SceneColumn> SceneReader::columns() const {
  std::vector<SceneColumn> all;
  for (std::size_t i = 0; i < kNumSceneFields; ++i) {
    const ColumnReader& column = impl_->columns[i];
    all.push_back({.path = scene_columns()[i].path(),
                   .rows = column.rows(),
                   .row_bytes = static_cast<std::int64_t>(column.row_bytes()),
                   .num_chunks = column.num_chunks(),
                   .stored_bytes = column.stored_bytes()});
  }
  return all;
}

std::uint64_t SceneReader::compute_content_hash() const {
  Hasher hash;
  std::vector<std::byte> bytes;
  for (const ColumnReader& column : impl_->columns) {
    Hasher of_column;
    const std::int64_t at_once =
        std::max<std::int64_t>(
            1, kHashedBytes / static_cast<std::int64_t>(column.row_bytes()) / column.chunk_rows()) *
        column.chunk_rows();
    for (std::int64_t row = 0; row < column.rows(); row += at_once) {
      const std::int64_t count = std::min(at_once, column.rows() - row);
      bytes.resize(as_size(count) * column.row_bytes());
      column.read(row, count, bytes);
      of_column.update(bytes);
    }
    const std::array<std::uint64_t, 2> part{static_cast<std::uint64_t>(column.rows()),
                                            of_column.digest()};
    hash.update(std::as_bytes(std::span(part)));
  }
  return hash.digest();
}

}  // namespace traffic::data
