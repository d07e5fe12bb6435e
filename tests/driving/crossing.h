/// A crossing of two roads with a light, and traffic on it, for tests of the driving policy.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "traffic/core/random.h"
#include "traffic/driving/recorded_scene.h"

namespace traffic::driving::testing {

/// Appends a lane to an edge. Adds the edge if the map does not have it yet.
inline std::int32_t add_lane(RoadMap& map, const std::string& edge, LaneKind kind,
                             const std::vector<Point>& line, float width_m = 3.2F) {
  if (map.lane_begin.empty()) map.lane_begin.push_back(0);
  auto index = static_cast<std::int32_t>(map.edges.size());
  for (std::size_t i = 0; i < map.edges.size(); ++i) {
    if (map.edges[i] == edge) index = static_cast<std::int32_t>(i);
  }
  if (index == static_cast<std::int32_t>(map.edges.size())) map.edges.push_back(edge);
  map.points.insert(map.points.end(), line.begin(), line.end());
  map.lane_begin.push_back(static_cast<std::int64_t>(map.points.size()));
  map.lanes.push_back(edge + "_" + std::to_string(map.lanes.size()));
  map.edge.push_back(index);
  map.kind.push_back(kind);
  map.width_m.push_back(width_m);
  map.speed_limit_mps.push_back(13.9F);
  return static_cast<std::int32_t>(map.lanes.size()) - 1;
}

/// Four arms, each with two lanes towards the centre and one away from it. The left lane turns
/// left; the right lane leads straight on and to the right. Arm a has the edges in<a> (index 2 a)
/// and out<a> (index 2 a + 1).
inline std::shared_ptr<const RoadMap> crossing() {
  auto map = std::make_shared<RoadMap>();
  map->name = "crossing";
  const auto turned = [](double x, double y, int arm) {
    const double angle = arm * std::numbers::pi / 2.0;
    return Point{static_cast<float>(std::cos(angle) * x - std::sin(angle) * y),
                 static_cast<float>(std::sin(angle) * x + std::cos(angle) * y)};
  };
  std::int32_t in[4][2];
  std::int32_t out[4];
  for (int arm = 0; arm < 4; ++arm) {
    const std::string name = std::to_string(arm);
    // Arm 0 lies to the west: vehicles enter it heading east.
    for (int lane = 0; lane < 2; ++lane) {
      const double y = -4.8 + 3.2 * lane;
      in[arm][lane] = add_lane(*map, "in" + name, LaneKind::kRoad,
                               {turned(-150.0, y, arm), turned(-12.0, y, arm)});
    }
    out[arm] = add_lane(*map, "out" + name, LaneKind::kRoad,
                        {turned(-12.0, 1.6, arm), turned(-150.0, 1.6, arm)});
  }
  for (int arm = 0; arm < 4; ++arm) {
    for (int turn = 1; turn < 4; ++turn) {  // to the arm on the right, straight on, on the left
      const std::int32_t from = in[arm][turn == 3 ? 1 : 0];
      const std::int32_t to = out[(arm + turn) % 4];
      const Point a = map->line(static_cast<std::size_t>(from)).back();
      const Point b = map->line(static_cast<std::size_t>(to)).front();
      const Point middle = turned(turn == 2 ? 0.0 : -2.0, turn == 2 ? -4.0 : 0.0, arm);
      std::vector<Point> line;
      for (int i = 0; i <= 6; ++i) {
        const auto t = static_cast<float>(i) / 6.0F;
        const float u = 1.0F - t;
        const float bend = turn == 2 ? 0.0F : 1.0F;
        const Point control{bend * middle.x_m + (1.0F - bend) * (a.x_m + b.x_m) / 2.0F,
                            bend * middle.y_m + (1.0F - bend) * (a.y_m + b.y_m) / 2.0F};
        line.push_back({u * u * a.x_m + 2.0F * u * t * control.x_m + t * t * b.x_m,
                        u * u * a.y_m + 2.0F * u * t * control.y_m + t * t * b.y_m});
      }
      const std::int32_t connector =
          add_lane(*map, ":c" + std::to_string(arm), LaneKind::kConnector, line);
      map->links.push_back({.from_lane = from,
                            .to_lane = to,
                            .connector = connector,
                            .signal = static_cast<std::int32_t>(map->signals.size())});
      map->signals.push_back({"c", static_cast<std::int32_t>(map->signals.size())});
    }
  }
  return map;
}

/// Vehicles that drive over the crossing on random routes at random speeds, without regard for each
/// other.
inline RecordedScene crossing_scene(std::uint64_t seed, int vehicles = 24, int frames = 40) {
  RecordedScene scene;
  scene.map = crossing();
  scene.seed = seed;
  Rng rng(seed);
  struct Trip {
    std::int32_t from_lane;
    Link link;
    double begin_m;
    double speed_mps;
  };
  const RoadMap& map = *scene.map;
  std::vector<Trip> trips;
  scene.route_begin.push_back(0);
  for (int v = 0; v < vehicles; ++v) {
    const Link link = map.links[rng.uniform_int(map.links.size())];
    trips.push_back({link.from_lane, link, rng.uniform(0.0, 150.0), rng.uniform(4.0, 14.0)});
    scene.vehicles.push_back({"car", 4.6F, 1.8F});
    scene.route_edges.push_back(map.edge[static_cast<std::size_t>(link.from_lane)]);
    scene.route_edges.push_back(map.edge[static_cast<std::size_t>(link.to_lane)]);
    scene.route_begin.push_back(static_cast<std::int64_t>(scene.route_edges.size()));
  }
  const auto length = [](std::span<const Point> line) {
    double sum = 0.0;
    for (std::size_t i = 1; i < line.size(); ++i) {
      sum += std::hypot(line[i].x_m - line[i - 1].x_m, line[i].y_m - line[i - 1].y_m);
    }
    return sum;
  };
  scene.node_begin.push_back(0);
  for (int f = 0; f < frames; ++f) {
    scene.time_s.push_back(kFrame_s * f);
    for (int v = 0; v < vehicles; ++v) {
      const Trip& trip = trips[static_cast<std::size_t>(v)];
      double at_m = trip.begin_m + trip.speed_mps * kFrame_s * f;
      for (const std::int32_t lane : {trip.from_lane, trip.link.connector, trip.link.to_lane}) {
        const std::span<const Point> line = map.line(static_cast<std::size_t>(lane));
        const double all = length(line);
        if (at_m >= all) {
          at_m -= all;
          continue;
        }
        std::size_t i = 1;
        double part = length(line.subspan(0, 2));
        while (at_m > part) {
          at_m -= part;
          ++i;
          part = length(line.subspan(i - 1, 2));
        }
        const auto share = static_cast<float>(at_m / part);
        const Point& a = line[i - 1];
        const Point& b = line[i];
        scene.nodes.push_back({.vehicle = v,
                               .x_m = a.x_m + share * (b.x_m - a.x_m),
                               .y_m = a.y_m + share * (b.y_m - a.y_m),
                               .heading_rad = std::atan2(b.y_m - a.y_m, b.x_m - a.x_m),
                               .speed_mps = static_cast<float>(trip.speed_mps),
                               .lane = lane,
                               .route = v});
        break;
      }
    }
    scene.node_begin.push_back(static_cast<std::int64_t>(scene.nodes.size()));
    for (std::size_t s = 0; s < map.signals.size(); ++s) {
      constexpr char kLetters[] = {'r', 'G', 'y', 'g', 'r', 'u'};
      scene.signals.push_back(static_cast<std::uint8_t>(
          kLetters[(s + static_cast<std::size_t>(f) / 8) % std::size(kLetters)]));
    }
  }
  return scene;
}

}  // namespace traffic::driving::testing
