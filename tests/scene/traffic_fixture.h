/// Vehicles placed by hand on a small road.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net_text.h"
#include "traffic/scene/road_state.h"

namespace traffic::scene::testing {

/// Routes of the little merge that net_text.h describes.
inline const std::vector<std::string> kMain = {"main", "out"};
inline const std::vector<std::string> kRamp = {"ramp", "out"};

class Scene {
 public:
  explicit Scene(std::shared_ptr<const Road> road)
      : road_(std::move(road)), plans_(*road_), state_(road_) {
    state_.reset(1.0, 100.0);
  }

  /// A vehicle of 5 m length at a position of a lane, on a route given by edge names.
  std::uint32_t add(const std::vector<std::string>& route, const std::string& lane_id, double pos,
                    double speed, bool is_cv = false) {
    Vehicle v;
    v.id = next_id_++;
    v.plan = &plan(route);
    v.is_cv = is_cv;
    v.lane = lane(*road_, lane_id);
    v.lane_pos_m = pos;
    v.speed_mps = speed;
    state_.depart(v);
    return v.id;
  }
  void move(std::uint32_t id, const std::string& lane_id, double pos, double speed) {
    Vehicle& v = *state_.find(id);
    v.lane = lane(*road_, lane_id);
    v.lane_pos_m = pos;
    v.speed_mps = speed;
  }
  /// Ends a step of 1 s, in which vehicles lose time as SUMO counts it.
  void step() {
    events_.time_s += 1.0;
    for (Vehicle& v : state_.vehicles()) {
      if (v.lane < 0) continue;
      const double limit = road_->lanes[static_cast<std::size_t>(v.lane)].speed_limit_mps;
      v.time_loss_s += 1.0 - v.speed_mps / (limit * v.speed_factor);
    }
    state_.update(events_);
    events_.collisions = events_.emergency_stops = events_.teleports = 0;
  }
  const RoutePlan& plan(const std::vector<std::string>& route) {
    std::vector<int> edges;
    for (const auto& id : route) edges.push_back(edge(*road_, id));
    return plans_.of(edges);
  }

  [[nodiscard]] RoadState& state() { return state_; }
  [[nodiscard]] const Road& road() const { return *road_; }
  [[nodiscard]] StepEvents& events() { return events_; }
  [[nodiscard]] const Vehicle& at(std::uint32_t id) { return *state_.find(id); }

 private:
  std::shared_ptr<const Road> road_;
  RoutePlans plans_;
  RoadState state_;
  StepEvents events_;
  std::uint32_t next_id_ = 0;
};

}  // namespace traffic::scene::testing
