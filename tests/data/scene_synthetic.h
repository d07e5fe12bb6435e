/// A small scene for tests of files with recorded scenes: a crossing with a traffic light, and
/// vehicles that drive across it.
#pragma once

#include <cstdint>

#include "traffic/driving/recorded_scene.h"

namespace traffic::data::test {

/// Two roads of one lane each, joined by a connector with a light.
inline std::shared_ptr<driving::RoadMap> crossing_map() {
  auto map = std::make_shared<driving::RoadMap>();
  map->name = "crossing";
  map->points = {{0, 0}, {100, 0}, {100, 0}, {105, 0}, {110, 5}, {110, 5}, {110, 105}};
  map->lane_begin = {0, 2, 5, 7};
  map->lanes = {"in_0", ":c_0_0", "out_0"};
  map->edge = {0, 1, 2};
  map->kind = {driving::LaneKind::kRoad, driving::LaneKind::kConnector, driving::LaneKind::kRoad};
  map->width_m = {3.2F, 3.2F, 3.5F};
  map->speed_limit_mps = {13.9F, 8.0F, 13.9F};
  map->edges = {"in", ":c_0", "out"};
  map->links = {{.from_lane = 0, .to_lane = 2, .connector = 1, .signal = 0},
                {.from_lane = 1, .to_lane = 2, .connector = -1, .signal = -1}};
  map->signals = {{.light = "c", .index = 0}};
  return map;
}

/// A scene in which vehicle i departs in frame 2 i and drives east at 10 m/s.
inline driving::RecordedScene crossing_scene(std::shared_ptr<const driving::RoadMap> map,
                                             std::uint64_t seed, std::size_t frames) {
  driving::RecordedScene scene;
  scene.map = std::move(map);
  scene.seed = seed;
  scene.route_begin = {0, 2, 3};
  scene.route_edges = {0, 2, 0};
  scene.vehicles = {{"car", 4.6F, 1.8F}, {"truck", 10.0F, 2.5F}, {"car", 4.6F, 1.8F}};
  scene.node_begin = {0};
  for (std::size_t frame = 0; frame < frames; ++frame) {
    scene.time_s.push_back(static_cast<double>(frame + 1) * driving::kFrame_s);
    for (std::size_t i = 0; i < scene.vehicles.size() && 2 * i <= frame; ++i) {
      scene.nodes.push_back({.vehicle = static_cast<std::int32_t>(i),
                             .x_m = 5.0F * static_cast<float>(frame - 2 * i),
                             .y_m = static_cast<float>(seed),
                             .heading_rad = 0.0F,
                             .speed_mps = 10.0F,
                             .lane = i == 2 ? -1 : 0,
                             .route = static_cast<std::int32_t>(i % 2)});
    }
    scene.node_begin.push_back(static_cast<std::int64_t>(scene.nodes.size()));
    scene.signals.push_back(frame % 2 == 0 ? 'G' : 'r');
  }
  return scene;
}

}  // namespace traffic::data::test
