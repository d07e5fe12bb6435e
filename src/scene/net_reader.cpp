// Reads a network file of SUMO (.net.xml) into a Road, and implements the member functions of Road.
#include <algorithm>
#include <cmath>
#include <pugixml.hpp>
#include <sstream>

#include "index.h"
#include "net_file.h"
#include "traffic/core/error.h"
#include "traffic/scene/text_file.h"

namespace traffic::scene {
namespace {

class NetReader {
 public:
  explicit NetReader(const std::filesystem::path& path) : path_(path) {}

  Road read() {
    const std::string text = read_text_file(path_, "network");
    pugi::xml_document document;
    const auto result = document.load_buffer(text.data(), text.size());
    if (!result)
      throw DataError("network {} is not valid XML: {} at byte {}", path_.string(),
                      result.description(), result.offset);
    const auto net = document.child("net");
    if (!net) throw DataError("network {}: no <net> element; is it a .net.xml?", path_.string());
    for (const auto edge : net.children("edge")) read_edge(edge);
    if (road_.lanes.empty()) throw DataError("network {}: the file has no lanes", path_.string());
    for (const auto connection : net.children("connection")) read_connection(connection);
    join_lanes();
    for (const auto junction : net.children("junction")) read_junction(junction);
    find_conflicts(road_, junctions_);
    find_near_lanes(road_);
    return std::move(road_);
  }

 private:
  static bool open_to_cars(const pugi::xml_node& lane) {
    const auto lists = [](const std::string& text, std::string_view word) {
      std::istringstream stream(text);
      std::string item;
      while (stream >> item)
        if (item == word) return true;
      return false;
    };
    const std::string allow = lane.attribute("allow").as_string();
    const std::string disallow = lane.attribute("disallow").as_string();
    if (!allow.empty()) return lists(allow, "passenger") || lists(allow, "all");
    return !lists(disallow, "passenger") && !lists(disallow, "all");
  }

  void read_shape(const pugi::xml_node& node, Lane& lane) const {
    std::istringstream stream(node.attribute("shape").as_string());
    std::string token;
    while (stream >> token) {
      Point point;
      if (std::sscanf(token.c_str(), "%lf,%lf", &point.x, &point.y) != 2)
        throw DataError("network {}: lane {}: its shape has the point '{}', expected x,y",
                        path_.string(), lane.id, token);
      const double step = lane.shape.empty() ? 0.0
                                             : std::hypot(point.x - lane.shape.back().x,
                                                          point.y - lane.shape.back().y);
      lane.shape_m.push_back(lane.shape.empty() ? 0.0 : lane.shape_m.back() + step);
      lane.shape.push_back(point);
    }
    if (lane.shape.empty())
      throw DataError("network {}: lane {} has no shape", path_.string(), lane.id);
    // The length of a lane in SUMO may differ from the length of its shape.
    if (lane.shape_m.back() > 0)
      for (auto& s : lane.shape_m) s *= lane.length_m / lane.shape_m.back();
  }

  void read_edge(const pugi::xml_node& node) {
    const std::string function = node.attribute("function").as_string();
    if (function == "crossing" || function == "walkingarea") return;  // no vehicle drives there
    Edge edge;
    edge.id = node.attribute("id").as_string();
    edge.internal = function == "internal";
    edge.first_lane = static_cast<int>(road_.lanes.size());
    for (const auto lane_node : node.children("lane")) {
      Lane lane;
      lane.id = lane_node.attribute("id").as_string();
      lane.edge = static_cast<int>(road_.edges.size());
      lane.index = edge.num_lanes++;
      lane.length_m = lane_node.attribute("length").as_double();
      lane.speed_limit_mps = lane_node.attribute("speed").as_double();
      // SUMO accepts lanes of length 0, and lanes with speed limit 0.
      if (!(lane.length_m >= 0 && lane.speed_limit_mps >= 0 && std::isfinite(lane.length_m) &&
            std::isfinite(lane.speed_limit_mps)))
        throw DataError(
            "network {}: lane {}: length {} m, speed limit {} m/s; expected finite numbers, at "
            "least 0",
            path_.string(), lane.id, lane.length_m, lane.speed_limit_mps);
      lane.width_m = lane_node.attribute("width").as_double(kLaneWidthM);
      if (!(lane.width_m > 0 && std::isfinite(lane.width_m))) {
        throw DataError("network {}: lane {}: width {} m; expected a positive number",
                        path_.string(), lane.id, lane.width_m);
      }
      lane.drivable = open_to_cars(lane_node);
      read_shape(lane_node, lane);
      edge.length_m = lane.length_m;
      road_.lane_index.emplace(lane.id, static_cast<int>(road_.lanes.size()));
      road_.lanes.push_back(std::move(lane));
    }
    if (edge.num_lanes == 0) return;
    road_.edge_index.emplace(edge.id, static_cast<int>(road_.edges.size()));
    road_.edges.push_back(std::move(edge));
  }

  /// @return -1 if the road has no such lane; pedestrian crossings, for example, are not read
  int lane_of(const char* edge_id, int index) const {
    const auto found = road_.edge_index.find(edge_id);
    if (found == road_.edge_index.end()) return -1;
    const Edge& edge = at(road_.edges, found->second);
    return index >= 0 && index < edge.num_lanes ? edge.first_lane + index : -1;
  }

  void read_connection(const pugi::xml_node& node) {
    const int from =
        lane_of(node.attribute("from").as_string(), node.attribute("fromLane").as_int(-1));
    Link link;
    link.to_lane = lane_of(node.attribute("to").as_string(), node.attribute("toLane").as_int(-1));
    if (from < 0 || link.to_lane < 0) return;
    const auto via = road_.lane_index.find(node.attribute("via").as_string());
    if (via != road_.lane_index.end()) link.via_lane = via->second;
    if (link.via_lane >= 0 && !is_internal(link.via_lane)) {
      throw DataError(
          "network {}: a connection of edge {} leads through lane {}, which is in no junction; "
          "make the network again with netconvert",
          path_.string(), node.attribute("from").as_string(), via->first);
    }
    // A connection without a linkIndex may name a light that does not control it, for example that
    // of trains at a rail crossing.
    const std::string light = node.attribute("tl").as_string();
    const int light_link = node.attribute("linkIndex").as_int(-1);
    if (!light.empty() && light_link >= 0) {
      const auto known = std::find(road_.lights.begin(), road_.lights.end(), light);
      link.light = static_cast<int>(known - road_.lights.begin());
      if (known == road_.lights.end()) road_.lights.push_back(light);
      link.light_link = light_link;
    }
    link.direction = node.attribute("dir").as_string("s")[0];
    at(road_.lanes, from).links.push_back(link);
  }

  [[nodiscard]] bool is_internal(int lane) const {
    return at(road_.edges, at(road_.lanes, lane).edge).internal;
  }

  /// The lane on which a vehicle is after it has taken a link.
  static int lane_behind(const Link& link) {
    return link.via_lane >= 0 ? link.via_lane : link.to_lane;
  }

  /// Throws if lanes inside junctions form a circle. Functions that follow such lanes to the end of
  /// the junction would never return.
  void refuse_circles_in_junctions() const {
    // [lanes] for lanes inside junctions: number of links that lead to them from such lanes
    std::vector<int> entries(road_.lanes.size(), 0);
    const auto for_each_inner = [&](int lane, const auto& visit) {
      for (const Link& link : at(road_.lanes, lane).links) {
        if (is_internal(lane_behind(link))) visit(lane_behind(link));
      }
    };
    std::vector<int> free;
    std::size_t left = 0;
    for (int i = 0; i < static_cast<int>(road_.lanes.size()); ++i) {
      if (is_internal(i)) for_each_inner(i, [&](int next) { ++at(entries, next); });
    }
    for (int i = 0; i < static_cast<int>(road_.lanes.size()); ++i) {
      if (!is_internal(i)) continue;
      ++left;
      if (at(entries, i) == 0) free.push_back(i);
    }
    while (!free.empty()) {
      const int lane = free.back();
      free.pop_back();
      --left;
      for_each_inner(lane, [&](int next) {
        if (--at(entries, next) == 0) free.push_back(next);
      });
    }
    if (left > 0) {
      throw DataError(
          "network {}: {} lanes inside junctions lead in a circle; make the network again with "
          "netconvert",
          path_.string(), left);
    }
  }

  /// Fills from_lanes of all lanes, exit_lane and exit_m of those inside junctions.
  void join_lanes() {
    refuse_circles_in_junctions();
    for (int i = 0; i < static_cast<int>(road_.lanes.size()); ++i)
      for (const Link& link : at(road_.lanes, i).links)
        at(road_.lanes, lane_behind(link)).from_lanes.push_back(i);
    for (auto& lane : road_.lanes) {
      if (!at(road_.edges, lane.edge).internal || lane.links.empty()) continue;
      lane.exit_lane = lane.links.front().to_lane;
      for (int via = lane.links.front().via_lane; via >= 0;) {
        const Lane& next = at(road_.lanes, via);
        lane.exit_m += next.length_m;
        via = next.links.empty() ? -1 : next.links.front().via_lane;
      }
    }
  }

  void read_junction(const pugi::xml_node& node) {
    NetJunction junction;
    junction.id = node.attribute("id").as_string();
    for (const auto request : node.children("request")) {
      junction.foes.emplace_back(request.attribute("foes").as_string());
      junction.response.emplace_back(request.attribute("response").as_string());
    }
    if (junction.foes.empty() || std::string(node.attribute("type").as_string()) == "internal")
      return;
    std::istringstream lanes(node.attribute("incLanes").as_string());
    std::string id;
    while (lanes >> id) {
      const auto found = road_.lane_index.find(id);
      if (found != road_.lane_index.end()) junction.incoming_lanes.push_back(found->second);
    }
    junctions_.push_back(std::move(junction));
  }

  std::filesystem::path path_;
  Road road_;
  std::vector<NetJunction> junctions_;
};

}  // namespace

Road read_road(const std::filesystem::path& net_file) { return NetReader(net_file).read(); }

int Road::lane_beside(int lane, int to_left) const {
  const Edge& edge = edge_of(lane);
  const int beside = lane + to_left;
  const bool exists = beside >= edge.first_lane && beside < edge.first_lane + edge.num_lanes;
  return exists && at(lanes, beside).drivable ? beside : -1;
}

const Link* Road::link_to(int lane, int edge) const {
  for (const Link& link : at(lanes, lane).links)
    if (at(lanes, link.to_lane).edge == edge) return &link;
  return nullptr;
}

Point Road::point_at(int lane, double pos_m) const {
  const Lane& l = at(lanes, lane);
  std::size_t i = 1;
  while (i + 1 < l.shape.size() && l.shape_m[i] < pos_m) ++i;
  if (i >= l.shape.size()) return l.shape.front();
  const double span = l.shape_m[i] - l.shape_m[i - 1];
  const double t = span > 0 ? std::clamp((pos_m - l.shape_m[i - 1]) / span, 0.0, 1.0) : 0.0;
  const Point& a = l.shape[i - 1];
  const Point& b = l.shape[i];
  return {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
}

}  // namespace traffic::scene
