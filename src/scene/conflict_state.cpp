// RoadState::update_conflicts() and its helpers. They compute the state of each conflict (a place
// where streams of traffic meet): vehicles, densities and speeds before it, in its zone and after
// it.
#include <algorithm>

#include "index.h"
#include "traffic/scene/road_state.h"

namespace traffic::scene {
namespace {

/// Number of vehicles in a part of the road and the sum of their speeds.
struct Group {
  int count = 0;
  double speed_sum = 0;
  void add(double speed) {
    ++count;
    speed_sum += speed;
  }
  [[nodiscard]] double speed_or(double empty) const {
    return count > 0 ? speed_sum / static_cast<double>(count) : empty;
  }
};

double density(int vehicles, double lane_km) {
  return lane_km > 0 ? static_cast<double>(vehicles) / lane_km : 0.0;
}

double limit_of(const Road& road, const std::vector<Stretch>& stretches) {
  return stretches.empty() ? 0.0 : road.speed_limit_mps(stretches.front().edge);
}

}  // namespace

void RoadState::update_conflicts(const StepEvents& events) {
  struct Groups {
    Group zone, downstream;
    std::vector<Group> near;  // [approaches]
  };
  std::vector<Groups> groups(conflicts_.size());
  for (std::size_t c = 0; c < conflicts_.size(); ++c) {
    auto& approaches = conflicts_[c].approaches;
    std::fill(approaches.begin(), approaches.end(), ApproachState{});
    groups[c].near.resize(approaches.size());
  }
  for (const auto& v : vehicles_) {
    if (v.conflict >= 0) {
      auto& approach = at(at(conflicts_, v.conflict).approaches, v.approach);
      ++approach.vehicles;
      if (v.speed_mps < kQueueSpeedMps) ++approach.queue;
      if (v.line_m <= kNearLineM) at(at(groups, v.conflict).near, v.approach).add(v.speed_mps);
    }
    if (v.edge_pos_m < 0) continue;  // inside a junction: on no stretch
    for (const auto& s : at(road_->stretches, at(v.plan->edges, v.route_index)))
      if (v.edge_pos_m >= s.from_m && v.edge_pos_m < s.to_m) {
        auto& group = at(groups, s.conflict);
        (s.zone ? group.zone : group.downstream).add(v.speed_mps);
      }
  }
  for (const WaitingVehicle& waiting : events.waiting) {
    if (waiting.plan == nullptr) continue;
    if (const int lane = waiting.plan->stop_lane.front(); lane >= 0) {
      const auto [conflict, approach] = at(road_->lane_approach, lane);
      ApproachState& state = at(at(conflicts_, conflict).approaches, approach);
      ++state.backlog;
      state.backlog_per_s += waiting.idle_per_s;
    }
  }
  while (!passes_.empty() && passes_.front().time_s <= time_s_ - kRecentS) passes_.pop_front();
  for (const auto& pass : passes_)
    ++at(at(conflicts_, pass.conflict).approaches, pass.approach).passed_30s;

  for (std::size_t c = 0; c < conflicts_.size(); ++c) {
    const Conflict& where = road_->conflicts[c];
    ConflictState& state = conflicts_[c];
    state.zone_density = density(groups[c].zone.count, where.zone_lane_km);
    state.zone_speed_mps = groups[c].zone.speed_or(limit_of(*road_, where.zone));
    state.downstream_density = density(groups[c].downstream.count, where.downstream_lane_km);
    state.downstream_speed_mps = groups[c].downstream.speed_or(limit_of(*road_, where.downstream));
    for (std::size_t a = 0; a < state.approaches.size(); ++a) {
      const Approach& approach = where.approaches[a];
      const auto& near = groups[c].near[a];
      const double lane_km = static_cast<double>(approach.lanes.size()) * kNearLineM / 1000.0;
      state.approaches[a].near_density = density(near.count, lane_km);
      state.approaches[a].near_speed_mps = near.speed_or(road_->speed_limit_mps(approach.edge));
      for (const int lane : approach.lanes) state.approaches[a].lanes_held += at(lane_held_, lane);
    }
  }
}

}  // namespace traffic::scene
