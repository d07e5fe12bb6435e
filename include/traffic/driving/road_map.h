/// RoadMap: the roads that a driving policy sees. It has the centre lines of lanes, the links over
/// junctions, and the traffic lights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace traffic::scene {
struct Road;
}

namespace traffic::driving {

/// Metres in the coordinates of the network: x to the east, y to the north.
struct Point {
  float x_m = 0.0F;
  float y_m = 0.0F;
};

enum class LaneKind : std::uint8_t {
  kRoad,       ///< between junctions
  kConnector,  ///< inside a junction
};

/// A permitted way over a junction, from one lane to another.
struct Link {
  std::int32_t from_lane = 0;
  std::int32_t to_lane = 0;
  std::int32_t connector = -1;  ///< the lane inside the junction; -1: there is none
  std::int32_t signal = -1;     ///< index of its light in RoadMap::signals; -1: no light
};

/// Which traffic light controls a link, and which letter of the light's state is for this link.
struct SignalHead {
  std::string light;       ///< name of the traffic light
  std::int32_t index = 0;  ///< position in the light's state string
};

/// Lanes on which cars may drive. All arrays have an entry for each lane unless they say otherwise.
struct RoadMap {
  std::string name;
  std::vector<Point> points;             ///< [points] centre lines, in the direction of travel
  std::vector<std::int64_t> lane_begin;  ///< [lanes + 1] first point of each lane
  std::vector<std::string> lanes;        ///< names
  std::vector<std::int32_t> edge;        ///< index into edges
  std::vector<LaneKind> kind;
  std::vector<float> width_m;
  std::vector<float> speed_limit_mps;
  std::vector<std::string> edges;   ///< [edges] names
  std::vector<Link> links;          ///< [links]
  std::vector<SignalHead> signals;  ///< [signals]

  [[nodiscard]] std::size_t num_lanes() const { return lanes.size(); }
  [[nodiscard]] std::span<const Point> line(std::size_t lane) const {
    return std::span(points).subspan(
        static_cast<std::size_t>(lane_begin[lane]),
        static_cast<std::size_t>(lane_begin[lane + 1] - lane_begin[lane]));
  }
};

/// Converts a network of SUMO: its lanes that are open to cars, and the links between them.
[[nodiscard]] RoadMap road_map(const scene::Road& road, std::string name);
/// The name of a network's map: "town" for town.net.xml and for town.net.xml.gz.
[[nodiscard]] std::string map_name(std::filesystem::path net_file);
/// Reads a network as netconvert writes it (.net.xml, also gzip).
/// @throws DataError if the file is missing, is no network or has no lane for cars
[[nodiscard]] RoadMap read_road_map(const std::filesystem::path& net_file);

}  // namespace traffic::driving
