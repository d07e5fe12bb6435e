/// A road network of SUMO in memory: its edges, its lanes with the links between them, and its
/// conflicts (places where streams of traffic meet).
///
/// A stream is the traffic on one approach to a conflict. Objects refer to each other by indices
/// into the vectors of `Road`. A comment such as [lanes] says what the index of a vector counts. A
/// Road never changes after it is read; threads may share it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace traffic::scene {

struct Point {
  double x = 0;
  double y = 0;
};

/// A connection from the end of a lane to the start of a lane of the next edge.
struct Link {
  int to_lane = -1;
  int via_lane = -1;     ///< first lane inside the junction; -1: the network has none
  int light = -1;        ///< index into Road::lights; -1: no traffic light
  int light_link = -1;   ///< index into that light's state string; -1: no traffic light
  char direction = 's';  ///< as SUMO writes it: s straight, l and r turns, t turns round
};

/// Width that SUMO gives a lane if the network file states none.
inline constexpr double kLaneWidthM = 3.2;

struct Lane {
  std::string id;
  int edge = -1;
  int index = 0;  ///< position within the edge; 0 is the rightmost lane
  double length_m = 0;
  double speed_limit_mps = 0;
  double width_m = kLaneWidthM;
  bool drivable = true;  ///< open to passenger cars
  std::vector<Point> shape;
  std::vector<double> shape_m;  ///< lane position of every point of the shape
  std::vector<Link> links;
  std::vector<int> from_lanes;  ///< lanes, also inside junctions, that lead directly onto this one
  int exit_lane = -1;  ///< inside a junction: the lane after it, to which this leads; else -1
  double exit_m = 0;   ///< inside a junction: distance from this lane's end to exit_lane's start
};

struct Edge {
  std::string id;
  int first_lane = 0;
  int num_lanes = 0;
  double length_m = 0;
  bool internal = false;  ///< whether the edge lies inside a junction
};

/// A part of an edge.
struct Stretch {
  int edge = -1;
  double from_m = 0;
  double to_m = 0;
};

/// One stream that reaches a conflict. The stop line is the end of `edge`.
struct Approach {
  int edge = -1;
  std::vector<int> lanes{};        ///< lanes that lead into the conflict
  std::vector<int> next_edges{};   ///< edges to which these lanes lead
  std::vector<int> conflicting{};  ///< approaches of the conflict whose streams this stream meets
  bool minor = false;              ///< all its lanes give way or end
  bool major = false;              ///< none of its lanes gives way or ends
  int light = -1;                  ///< the light at the stop line or, if it has none, the light
                                   ///< upstream that lets this stream pass; -1: neither exists
  std::vector<int> light_links{};  ///< indices into the light's state string: the links that
                                   ///< let this stream pass
};

/// A place where streams meet: a junction at which links cross or merge, an edge on which lanes
/// end, or a weaving section.
struct Conflict {
  std::string id;  ///< id of the junction or edge, or "end of <edge>" for a lane that ends
  std::vector<Approach> approaches;
  std::vector<Stretch> zone;        ///< road directly after the stop lines
  std::vector<Stretch> downstream;  ///< the next 500 m of road after the zone
  double zone_lane_km = 0;          ///< lane kilometres of the zone
  double downstream_lane_km = 0;    ///< lane kilometres of `downstream`
};

/// A lane near another one. A vehicle at `pos` on `lane` is at `pos + offset_m` in the coordinate
/// of the other lane.
struct NearLane {
  int lane = -1;
  double offset_m = 0;
  bool same_path = false;  ///< vehicles on one of the lanes can follow vehicles on the other
                           ///< without a lane change
};

/// A part of an edge that belongs to a conflict's zone or downstream road.
struct StretchOf {
  int conflict = -1;
  bool zone = false;  ///< true: in the zone; false: downstream
  double from_m = 0;
  double to_m = 0;
};

struct Road {
  std::vector<Edge> edges;
  std::vector<Lane> lanes;
  std::vector<std::string> lights;  ///< ids of the traffic lights
  std::vector<Conflict> conflicts;
  std::vector<std::vector<NearLane>>
      near;  ///< [lanes] for each lane the lanes within kNeighbourReachM; the first is itself
  std::vector<std::vector<StretchOf>> stretches;  ///< [edges] parts that belong to conflicts
  std::vector<std::pair<int, int>>
      lane_approach;  ///< [lanes] conflict and approach whose stop line ends the lane; -1, -1: none
  std::unordered_map<std::string, int> lane_index;  ///< SUMO id to index into `lanes`
  std::unordered_map<std::string, int> edge_index;  ///< SUMO id to index into `edges`

  [[nodiscard]] const Edge& edge_of(int lane) const {
    return edges[static_cast<std::size_t>(lanes[static_cast<std::size_t>(lane)].edge)];
  }
  /// Speed limit of an edge's first lane.
  [[nodiscard]] double speed_limit_mps(int edge) const {
    const Edge& its = edges[static_cast<std::size_t>(edge)];
    return lanes[static_cast<std::size_t>(its.first_lane)].speed_limit_mps;
  }
  /// The lane `to_left` lanes to the left on the same edge (negative: to the right); -1 if there is
  /// none that is open to cars.
  [[nodiscard]] int lane_beside(int lane, int to_left) const;
  /// The link of a lane that leads onto an edge; null when there is none.
  [[nodiscard]] const Link* link_to(int lane, int edge) const;
  /// Point in the plane at a position of a lane (its centre line).
  [[nodiscard]] Point point_at(int lane, double pos_m) const;
};

/// Maximum distance in metres between vehicles that count as neighbours.
inline constexpr double kNeighbourReachM = 50.0;

/// Reads a network as netconvert writes it (.net.xml, plain or gzip) and finds its conflicts.
/// @throws DataError if the file is missing or is no SUMO network
Road read_road(const std::filesystem::path& net_file);

}  // namespace traffic::scene
