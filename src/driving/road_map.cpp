// RoadMap: makes the map that a driving policy sees from a road network (road_map.h).
#include "traffic/driving/road_map.h"

#include <map>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/scene/road.h"

namespace traffic::driving {
namespace {

/// Makes the map of a network. While it does so, it keeps the index in the map of each lane, edge
/// and signal of the network.
class MapMaker {
 public:
  MapMaker(const scene::Road& road, std::string name) : road_(road) { map_.name = std::move(name); }

  RoadMap make() {
    lane_of_.assign(road_.lanes.size(), -1);
    edge_of_.assign(road_.edges.size(), -1);
    map_.lane_begin.push_back(0);
    for (std::size_t lane = 0; lane < road_.lanes.size(); ++lane) {
      if (road_.lanes[lane].drivable) add_lane(lane);
    }
    for (std::size_t lane = 0; lane < road_.lanes.size(); ++lane) {
      for (const scene::Link& link : road_.lanes[lane].links) add_link(lane, link);
    }
    return std::move(map_);
  }

 private:
  void add_lane(std::size_t lane) {
    const scene::Lane& from = road_.lanes[lane];
    lane_of_[lane] = static_cast<std::int32_t>(map_.lanes.size());
    for (const scene::Point& point : from.shape) add_point(point);
    if (from.shape.size() == 1) add_point(from.shape.front());  // a line has two ends
    map_.lane_begin.push_back(static_cast<std::int64_t>(map_.points.size()));
    map_.lanes.push_back(from.id);
    map_.edge.push_back(edge(static_cast<std::size_t>(from.edge)));
    map_.kind.push_back(road_.edge_of(static_cast<int>(lane)).internal ? LaneKind::kConnector
                                                                       : LaneKind::kRoad);
    map_.width_m.push_back(static_cast<float>(from.width_m));
    map_.speed_limit_mps.push_back(static_cast<float>(from.speed_limit_mps));
  }

  void add_point(const scene::Point& point) {
    map_.points.push_back({static_cast<float>(point.x), static_cast<float>(point.y)});
  }

  std::int32_t edge(std::size_t index) {
    if (edge_of_[index] < 0) {
      edge_of_[index] = static_cast<std::int32_t>(map_.edges.size());
      map_.edges.push_back(road_.edges[index].id);
    }
    return edge_of_[index];
  }

  void add_link(std::size_t from, const scene::Link& link) {
    const Link added{
        .from_lane = lane_of_[from],
        .to_lane = lane_of_[static_cast<std::size_t>(link.to_lane)],
        .connector = link.via_lane >= 0 ? lane_of_[static_cast<std::size_t>(link.via_lane)] : -1,
        .signal = link.light >= 0 ? signal(link) : -1};
    if (added.from_lane >= 0 && added.to_lane >= 0) map_.links.push_back(added);
  }

  std::int32_t signal(const scene::Link& link) {
    const auto [entry, is_new] = signal_of_.try_emplace(
        {link.light, link.light_link}, static_cast<std::int32_t>(map_.signals.size()));
    if (is_new) {
      map_.signals.push_back({road_.lights[static_cast<std::size_t>(link.light)], link.light_link});
    }
    return entry->second;
  }

  const scene::Road& road_;
  RoadMap map_;
  std::vector<std::int32_t> lane_of_;  ///< [lanes of the network] index in the map; -1 if none
  std::vector<std::int32_t> edge_of_;  ///< [edges of the network] index in the map; -1 if none
  /// Index of a signal in the map. The key is a traffic light and a position in its state.
  std::map<std::pair<int, int>, std::int32_t> signal_of_;
};

}  // namespace

RoadMap road_map(const scene::Road& road, std::string name) {
  return MapMaker(road, std::move(name)).make();
}

std::string map_name(std::filesystem::path net_file) {
  for (const char* ending : {".gz", ".xml", ".net"}) {
    if (net_file.extension() == ending) net_file = net_file.stem();
  }
  return net_file.filename().string();
}

RoadMap read_road_map(const std::filesystem::path& net_file) {
  RoadMap map = road_map(scene::read_road(net_file), map_name(net_file));
  if (map.lanes.empty()) {
    throw DataError("network {}: none of its lanes is open to passenger cars", net_file.string());
  }
  return map;
}

}  // namespace traffic::driving
