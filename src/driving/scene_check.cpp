// Checks that maps and recorded scenes are consistent (scene_check.h).
#include "traffic/driving/scene_check.h"

#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>

#include "traffic/core/error.h"

namespace traffic::driving {
namespace {

/// Maximum coordinate. Farther from the origin, neighbouring values of a float are more than 6 cm
/// apart.
constexpr float kMaxCoordinate_m = 1e6F;
constexpr float kMaxWidth_m = 100.0F;
constexpr float kMaxLength_m = 2000.0F;  // of trains
constexpr float kMaxSpeed_mps = 200.0F;
constexpr std::string_view kSignalLetters = "rRyYgGuUoOs";

bool is_index(std::int64_t index, std::size_t size) {
  return index >= 0 && static_cast<std::uint64_t>(index) < size;
}
bool is_index_or_none(std::int64_t index, std::size_t size) {
  return index == -1 || is_index(index, size);
}
bool is_place(float x_m, float y_m) {  // false for NaN
  return std::abs(x_m) <= kMaxCoordinate_m && std::abs(y_m) <= kMaxCoordinate_m;
}
bool is_size(float value_m, float most_m) { return value_m > 0.0F && value_m <= most_m; }

/// Checks a list of where consecutive ranges begin. It must rise from 0 to `end` and have one
/// number more than there are ranges.
void check_begins(std::span<const std::int64_t> begin, std::size_t ranges, std::size_t end,
                  std::string_view what) {
  if (begin.size() != ranges + 1 || begin.front() != 0 ||
      begin.back() != static_cast<std::int64_t>(end)) {
    throw DataError(
        "the list of where the {} begin has {} numbers, from {} to {}; expected {} numbers, from 0 "
        "to {}",
        what, begin.size(), begin.empty() ? 0 : begin.front(), begin.empty() ? 0 : begin.back(),
        ranges + 1, end);
  }
  for (std::size_t i = 0; i < ranges; ++i) {
    if (begin[i + 1] < begin[i]) {
      throw DataError(
          "in the list of where the {1} begin, entry {0} is {2}, but the next entry is only {3}; "
          "expected rising numbers",
          i, what, begin[i], begin[i + 1]);
    }
  }
}

void check_lanes(const RoadMap& map) {
  const std::size_t lanes = map.num_lanes();
  if (lanes == 0) throw DataError("map '{}' has no lanes", map.name);
  if (map.edge.size() != lanes || map.kind.size() != lanes || map.width_m.size() != lanes ||
      map.speed_limit_mps.size() != lanes) {
    throw DataError("map '{}': its {} lanes have {} edges, {} kinds, {} widths, {} speed limits",
                    map.name, lanes, map.edge.size(), map.kind.size(), map.width_m.size(),
                    map.speed_limit_mps.size());
  }
  check_begins(map.lane_begin, lanes, map.points.size(), "lines of the lanes");
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const auto fail = [&](const std::string& why) {
      throw DataError("map '{}': lane {} ('{}') {}", map.name, lane, map.lanes[lane], why);
    };
    if (map.line(lane).size() < 2) fail("has fewer than 2 points");
    for (const Point& point : map.line(lane)) {
      if (!is_place(point.x_m, point.y_m)) {
        fail(fmt::format("has a point at ({}, {}); expected coordinates within {:g} m of 0",
                         point.x_m, point.y_m, kMaxCoordinate_m));
      }
    }
    if (!is_index(map.edge[lane], map.edges.size())) {
      fail(
          fmt::format("is on edge {}, but the map has {} edges", map.edge[lane], map.edges.size()));
    }
    if (map.kind[lane] != LaneKind::kRoad && map.kind[lane] != LaneKind::kConnector) {
      fail(fmt::format("is of kind {}; expected 0 (road) or 1 (connector)",
                       static_cast<int>(map.kind[lane])));
    }
    if (!is_size(map.width_m[lane], kMaxWidth_m)) {
      fail(fmt::format("has a width of {} m; expected more than 0 and at most {}",
                       map.width_m[lane], kMaxWidth_m));
    }
    if (!(map.speed_limit_mps[lane] >= 0.0F && std::isfinite(map.speed_limit_mps[lane]))) {
      fail(fmt::format("has a speed limit of {} m/s; expected a finite number, at least 0",
                       map.speed_limit_mps[lane]));
    }
  }
}

void check_vehicles(const RecordedScene& scene) {
  for (std::size_t i = 0; i < scene.vehicles.size(); ++i) {
    const SceneVehicle& vehicle = scene.vehicles[i];
    if (!is_size(vehicle.length_m, kMaxLength_m) || !is_size(vehicle.width_m, kMaxWidth_m)) {
      throw DataError(
          "vehicle {} ('{}') is {} m long and {} m wide; expected more than 0 and at most {} and "
          "{} m",
          i, vehicle.type, vehicle.length_m, vehicle.width_m, kMaxLength_m, kMaxWidth_m);
    }
  }
}

void check_times(const RecordedScene& scene) {
  if (scene.time_s.empty()) throw DataError("the scene has no frame");
  for (std::size_t i = 0; i < scene.time_s.size(); ++i) {
    if (!std::isfinite(scene.time_s[i])) throw DataError("the time of frame {} is not finite", i);
    if (i == 0) continue;
    const double rounding_s =
        8 * std::numeric_limits<double>::epsilon() * std::abs(scene.time_s[i]);
    const double step_s = scene.time_s[i] - scene.time_s[i - 1];
    if (std::abs(step_s - kFrame_s) > 1e-3 * kFrame_s + rounding_s) {
      throw DataError("frame {} is at {} s, {:.6g} s after the previous one, expected {} s", i,
                      scene.time_s[i], step_s, kFrame_s);
    }
  }
}

void check_nodes(const RecordedScene& scene) {
  const std::size_t routes = scene.route_begin.size() - 1;
  for (std::size_t frame = 0; frame < scene.num_frames(); ++frame) {
    std::int32_t last = -1;
    for (const SceneNode& node : scene.frame(frame)) {
      const auto fail = [&](const std::string& why) {
        throw DataError("frame {} at {:.6g} s: vehicle {} {}", frame, scene.time_s[frame],
                        node.vehicle, why);
      };
      if (!is_index(node.vehicle, scene.vehicles.size())) {
        fail(fmt::format("is not one of the {} vehicles", scene.vehicles.size()));
      }
      if (node.vehicle <= last)
        fail(fmt::format("follows vehicle {}; expected rising numbers", last));
      last = node.vehicle;
      if (!is_place(node.x_m, node.y_m)) {
        fail(fmt::format("is at ({}, {}); expected coordinates within {:g} m of 0", node.x_m,
                         node.y_m, kMaxCoordinate_m));
      }
      if (!(std::abs(node.heading_rad) <= 1.0001F * std::numbers::pi_v<float>)) {
        fail(fmt::format("has a heading of {} rad; expected -pi to pi", node.heading_rad));
      }
      if (!(std::abs(node.speed_mps) <= kMaxSpeed_mps)) {
        fail(fmt::format("has a speed of {} m/s; expected -{} to {}", node.speed_mps, kMaxSpeed_mps,
                         kMaxSpeed_mps));
      }
      if (!is_index_or_none(node.lane, scene.map->num_lanes())) {
        fail(fmt::format("is on lane {}, but the map has {} lanes", node.lane,
                         scene.map->num_lanes()));
      }
      if (!is_index_or_none(node.route, routes)) {
        fail(fmt::format("has route {}, but the scene has {} routes", node.route, routes));
      }
    }
  }
}

void check_signals(const RecordedScene& scene) {
  const std::size_t expected = scene.num_frames() * scene.map->signals.size();
  if (scene.signals.size() != expected) {
    throw DataError("the scene has {} signal states, expected {} ({} frames, {} signals)",
                    scene.signals.size(), expected, scene.num_frames(), scene.map->signals.size());
  }
  for (std::size_t i = 0; i < expected; ++i) {
    const char letter = static_cast<char>(scene.signals[i]);
    if (kSignalLetters.find(letter) == std::string_view::npos) {
      throw DataError("frame {}: signal {} shows the character {}; expected one of {}",
                      i / scene.map->signals.size(), i % scene.map->signals.size(),
                      scene.signals[i], kSignalLetters);
    }
  }
}

}  // namespace

void check_map(const RoadMap& map) {
  check_lanes(map);
  for (std::size_t i = 0; i < map.links.size(); ++i) {
    const Link& link = map.links[i];
    if (!is_index(link.from_lane, map.num_lanes()) || !is_index(link.to_lane, map.num_lanes()) ||
        !is_index_or_none(link.connector, map.num_lanes()) ||
        !is_index_or_none(link.signal, map.signals.size())) {
      throw DataError(
          "map '{}': link {} leads from lane {} to lane {} over lane {} with signal {}, but the "
          "map has {} lanes and {} signals, counted from 0",
          map.name, i, link.from_lane, link.to_lane, link.connector, link.signal, map.num_lanes(),
          map.signals.size());
    }
  }
  for (std::size_t i = 0; i < map.signals.size(); ++i) {
    if (map.signals[i].index < 0) {
      throw DataError(
          "map '{}': signal {} is at position {} of light '{}'; expected a position of 0 or more",
          map.name, i, map.signals[i].index, map.signals[i].light);
    }
  }
}

void check_scene(const RecordedScene& scene) {
  if (!scene.map) throw DataError("the scene has no map");
  check_times(scene);
  check_begins(scene.node_begin, scene.num_frames(), scene.nodes.size(), "frames");
  if (scene.route_begin.empty()) throw DataError("the beginnings of the routes are missing");
  check_begins(scene.route_begin, scene.route_begin.size() - 1, scene.route_edges.size(), "routes");
  for (std::size_t i = 0; i < scene.route_edges.size(); ++i) {
    if (!is_index(scene.route_edges[i], scene.map->edges.size())) {
      throw DataError("a route passes edge {}, but map '{}' has {} edges", scene.route_edges[i],
                      scene.map->name, scene.map->edges.size());
    }
  }
  check_vehicles(scene);
  check_nodes(scene);
  check_signals(scene);
}

}  // namespace traffic::driving
