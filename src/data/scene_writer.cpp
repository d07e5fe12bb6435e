// SceneWriter: writes recorded scenes to a file (traffic/data/scene_file.h).
#include <array>
#include <memory>
#include <unordered_map>
#include <utility>

#include "column_file.h"
#include "scene_columns.h"
#include "traffic/driving/scene_check.h"

namespace traffic::data {

struct SceneWriter::Impl {
  Impl(const std::filesystem::path& path, SceneFileInfo file_info,
       const SceneWriterOptions& options)
      : info(std::move(file_info)), file(path, options.compression_level, options.encoder_threads) {
    for (const ColumnLayout& layout : scene_columns()) {
      file.add(layout, layout.element, layout.width);
    }
    for (const SceneField field :
         {SceneField::kStringPtr, SceneField::kMapLanePtr, SceneField::kMapEdgePtr,
          SceneField::kMapLinkPtr, SceneField::kMapSignalPtr, SceneField::kLanePointPtr,
          SceneField::kEpisodeFramePtr, SceneField::kEpisodeVehiclePtr,
          SceneField::kEpisodeRoutePtr, SceneField::kRoutePtr, SceneField::kFrameNodePtr}) {
      append<std::int64_t>(field, 0);
    }
  }

  [[nodiscard]] ColumnWriter& column(SceneField field) {
    return file.column(static_cast<std::size_t>(field));
  }
  [[nodiscard]] std::int64_t rows(SceneField field) { return column(field).rows(); }

  template <typename T>
  void append(SceneField field, T value) {
    column(field).append_values(std::span<const T>(&value, 1));
  }

  /// Appends the value of(item) to a column for each item.
  template <typename T, typename Item, typename Of>
  void append_each(SceneField field, std::span<const Item> items, const Of& of) {
    std::vector<T> values;
    values.reserve(items.size());
    for (const Item& item : items) values.push_back(of(item));
    column(field).append_values(std::span<const T>(values));
  }

  /// Adds a text to the file's table of strings if it is new.
  /// @return the number of the text in the table
  std::int32_t string(const std::string& text) {
    const auto [entry, is_new] =
        strings.try_emplace(text, static_cast<std::int32_t>(strings.size()));
    if (is_new) {
      column(SceneField::kStringBytes).append(std::as_bytes(std::span(text)));
      append(SceneField::kStringPtr, rows(SceneField::kStringBytes));
    }
    return entry->second;
  }

  void append_strings(SceneField field, std::span<const std::string> texts) {
    append_each<std::int32_t>(field, texts, [&](const std::string& text) { return string(text); });
  }

  /// Adds a map to the file if it is new.
  /// @return the number of the map in the file
  std::int32_t map(const std::shared_ptr<const driving::RoadMap>& map) {
    const auto [entry, is_new] = maps.try_emplace(map, static_cast<std::int32_t>(maps.size()));
    if (is_new) add_map(*map);
    return entry->second;
  }

  void add_map(const driving::RoadMap& map);
  void add_episode(const driving::RecordedScene& scene, const SceneLabel& label, std::int32_t map);
  void add_nodes(std::span<const driving::SceneNode> nodes);

  SceneFileInfo info;
  ColumnFile file;
  std::unordered_map<std::string, std::int32_t> strings;
  std::unordered_map<std::shared_ptr<const driving::RoadMap>, std::int32_t> maps;
};

void SceneWriter::Impl::add_map(const driving::RoadMap& map) {
  using F = SceneField;
  const std::int64_t first_point = rows(F::kPointXy);
  append(F::kMapName, string(map.name));
  append_strings(F::kLaneName, map.lanes);
  column(F::kLaneEdge).append_values(std::span(map.edge));
  append_each<std::uint8_t>(F::kLaneKind, std::span(map.kind),
                            [](auto kind) { return static_cast<std::uint8_t>(kind); });
  column(F::kLaneWidth).append_values(std::span(map.width_m));
  column(F::kLaneSpeedLimit).append_values(std::span(map.speed_limit_mps));
  append_each<std::int64_t>(F::kLanePointPtr, std::span(map.lane_begin).subspan(1),
                            [&](std::int64_t begin) { return first_point + begin; });
  for (const driving::Point& point : map.points) {
    const std::array<float, 2> xy{point.x_m, point.y_m};
    column(F::kPointXy).append_values(std::span<const float>(xy));
  }
  append_strings(F::kEdgeName, map.edges);
  const std::span links(map.links);
  append_each<std::int32_t>(F::kLinkFromLane, links, [](const auto& l) { return l.from_lane; });
  append_each<std::int32_t>(F::kLinkToLane, links, [](const auto& l) { return l.to_lane; });
  append_each<std::int32_t>(F::kLinkConnector, links, [](const auto& l) { return l.connector; });
  append_each<std::int32_t>(F::kLinkSignal, links, [](const auto& l) { return l.signal; });
  const std::span signals(map.signals);
  append_each<std::int32_t>(F::kSignalLight, signals,
                            [&](const auto& signal) { return string(signal.light); });
  append_each<std::int32_t>(F::kSignalIndex, signals, [](const auto& s) { return s.index; });
  append(F::kMapLanePtr, rows(F::kLaneName));
  append(F::kMapEdgePtr, rows(F::kEdgeName));
  append(F::kMapLinkPtr, rows(F::kLinkFromLane));
  append(F::kMapSignalPtr, rows(F::kSignalLight));
}

void SceneWriter::Impl::add_nodes(std::span<const driving::SceneNode> nodes) {
  using F = SceneField;
  append_each<std::int32_t>(F::kNodeVehicle, nodes, [](const auto& n) { return n.vehicle; });
  append_each<std::array<float, 2>>(F::kNodeXy, nodes, [](const auto& n) {
    return std::array{n.x_m, n.y_m};
  });
  append_each<float>(F::kNodeHeading, nodes, [](const auto& n) { return n.heading_rad; });
  append_each<float>(F::kNodeSpeed, nodes, [](const auto& n) { return n.speed_mps; });
  append_each<std::int32_t>(F::kNodeLane, nodes, [](const auto& n) { return n.lane; });
  append_each<std::int32_t>(F::kNodeRoute, nodes, [](const auto& n) { return n.route; });
}

void SceneWriter::Impl::add_episode(const driving::RecordedScene& scene, const SceneLabel& label,
                                    std::int32_t map) {
  using F = SceneField;
  const std::int64_t first_node = rows(F::kNodeVehicle);
  const std::int64_t first_route_edge = rows(F::kRouteEdge);
  append(F::kEpisodeSeed, scene.seed);
  append(F::kEpisodeSplit, static_cast<std::uint8_t>(label.split));
  append(F::kEpisodeDemandScale, label.demand_scale);
  append(F::kEpisodeMap, map);
  const std::span vehicles(scene.vehicles);
  append_each<std::int32_t>(F::kVehicleType, vehicles,
                            [&](const auto& vehicle) { return string(vehicle.type); });
  append_each<float>(F::kVehicleLength, vehicles, [](const auto& v) { return v.length_m; });
  append_each<float>(F::kVehicleWidth, vehicles, [](const auto& v) { return v.width_m; });
  column(F::kRouteEdge).append_values(std::span(scene.route_edges));
  append_each<std::int64_t>(F::kRoutePtr, std::span(scene.route_begin).subspan(1),
                            [&](std::int64_t begin) { return first_route_edge + begin; });
  column(F::kFrameTime).append_values(std::span(scene.time_s));
  append_each<std::int64_t>(F::kFrameNodePtr, std::span(scene.node_begin).subspan(1),
                            [&](std::int64_t begin) { return first_node + begin; });
  column(F::kFrameSignals).append_values(std::span(scene.signals));
  add_nodes(scene.nodes);
  append(F::kEpisodeFramePtr, rows(F::kFrameTime));
  append(F::kEpisodeVehiclePtr, rows(F::kVehicleType));
  append(F::kEpisodeRoutePtr, rows(F::kRoutePtr) - 1);
  file.store_packed();
}

SceneWriter::SceneWriter(const std::filesystem::path& path, SceneFileInfo info,
                         const SceneWriterOptions& options)
    : impl_(std::make_unique<Impl>(path, std::move(info), options)) {}

SceneWriter::~SceneWriter() = default;

void SceneWriter::add(const driving::RecordedScene& scene, const SceneLabel& label) {
  if (scene.map && !impl_->maps.contains(scene.map)) driving::check_map(*scene.map);
  driving::check_scene(scene);
  impl_->add_episode(scene, label, impl_->map(scene.map));
}

void SceneWriter::finish() {
  if (impl_->rows(SceneField::kEpisodeSeed) == 0) {
    throw DataError("a file of scenes needs at least one episode");
  }
  impl_->info.content_hash = impl_->file.finish_columns();
  write_scene_attributes(impl_->file.id(), impl_->info);
  impl_->file.commit();
}

}  // namespace traffic::data
