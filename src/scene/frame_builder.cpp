// Builds the graph that a model observes: a node for each vehicle, and edges from its neighbours.
#include "traffic/scene/frame_builder.h"

#include <algorithm>
#include <cmath>

#include "columns.h"
#include "index.h"
#include "node_row.h"

namespace traffic::scene {

std::array<float, 4> edge_row(const Vehicle& own, const Vehicle& neighbour, double ahead_m,
                              bool same_path) {
  double ttc = kEdgeTimeCapS;
  double thw = kEdgeTimeCapS;
  if (same_path) {
    const Vehicle& front = ahead_m > 0 ? neighbour : own;
    const Vehicle& rear = ahead_m > 0 ? own : neighbour;
    const double gap = std::fabs(ahead_m) - front.length_m;
    ttc = std::min(ttc, time_to_collision_s(gap, rear.speed_mps, front.speed_mps));
    thw = std::min(thw, time_headway_s(gap, rear.speed_mps));
  }
  return {static_cast<float>(ahead_m), static_cast<float>(neighbour.speed_mps - own.speed_mps),
          static_cast<float>(ttc), static_cast<float>(thw)};
}

const GraphFrame& FrameBuilder::build(const RoadState& state) {
  frame_.time_s = state.time_s();
  build_nodes(state);
  build_edges(state);
  fill_global_row(state.vehicles(),
                  {.waiting = static_cast<double>(state.waiting()),
                   .arrived_30s = static_cast<double>(state.arrived_30s()),
                   .time_share = time_share(state.time_s(), state.end_s())},
                  frame_.global_features);
  return frame_;
}

void FrameBuilder::build_nodes(const RoadState& state) {
  const auto vehicles = state.vehicles();
  frame_.vehicle_id.resize(vehicles.size());
  frame_.xy_m.resize(2 * vehicles.size());
  frame_.node_features.resize(kNumNodeColumns * vehicles.size());
  for (std::size_t i = 0; i < vehicles.size(); ++i) {
    const Vehicle& v = vehicles[i];
    const Point point = state.road().point_at(v.lane, v.lane_pos_m);
    frame_.vehicle_id[i] = v.id;
    frame_.xy_m[2 * i] = static_cast<float>(point.x);
    frame_.xy_m[2 * i + 1] = static_cast<float>(point.y);
    fill_node_row(state, v,
                  std::span(frame_.node_features).subspan(kNumNodeColumns * i, kNumNodeColumns));
  }
}

void FrameBuilder::build_edges(const RoadState& state) {
  frame_.edge_ptr.assign(1, 0);
  frame_.edge_src.clear();
  frame_.edge_features.clear();
  for (std::size_t i = 0; i < state.vehicles().size(); ++i) {
    gather(state, i);
    append_edges(state, i);
    frame_.edge_ptr.push_back(static_cast<std::int32_t>(frame_.edge_src.size()));
  }
}

/// Collects up to kMaxNeighbours neighbours of a vehicle, the nearest first. They are within
/// kNeighbourReachM of it, on its lane or on lanes near it.
void FrameBuilder::gather(const RoadState& state, std::size_t vehicle) {
  near_.clear();
  const auto vehicles = state.vehicles();
  const Vehicle& v = vehicles[vehicle];
  const double x = frame_.xy_m[2 * vehicle];
  const double y = frame_.xy_m[2 * vehicle + 1];
  for (const NearLane& lane : at(state.road().near, v.lane)) {
    const auto on_lane = state.lane_order().on(lane.lane);
    const double low = v.lane_pos_m - kNeighbourReachM - lane.offset_m;
    const double high = v.lane_pos_m + kNeighbourReachM - lane.offset_m;
    auto it = std::lower_bound(on_lane.begin(), on_lane.end(), low, [&](int i, double position) {
      return at(vehicles, i).lane_pos_m < position;
    });
    for (; it != on_lane.end() && at(vehicles, *it).lane_pos_m <= high; ++it) {
      const auto other = static_cast<std::size_t>(*it);
      if (other == vehicle) continue;
      const double dx = frame_.xy_m[2 * other] - x;
      const double dy = frame_.xy_m[2 * other + 1] - y;
      const double square = dx * dx + dy * dy;
      if (square > kNeighbourReachM * kNeighbourReachM) continue;
      const double ahead = vehicles[other].lane_pos_m + lane.offset_m - v.lane_pos_m;
      near_.push_back({square, *it, ahead, lane.same_path});
    }
  }
  const auto nearer = [](const Near& a, const Near& b) {
    return a.square_m2 != b.square_m2 ? a.square_m2 < b.square_m2 : a.vehicle < b.vehicle;
  };
  const auto keep = std::min<std::size_t>(near_.size(), kMaxNeighbours);
  std::partial_sort(near_.begin(), near_.begin() + static_cast<std::ptrdiff_t>(keep), near_.end(),
                    nearer);
  near_.resize(keep);
}

void FrameBuilder::append_edges(const RoadState& state, std::size_t vehicle) {
  const auto vehicles = state.vehicles();
  for (const Near& near : near_) {
    const Vehicle& v = vehicles[vehicle];
    const Vehicle& other = at(vehicles, near.vehicle);
    frame_.edge_src.push_back(near.vehicle);
    for (const float value : edge_row(v, other, near.ahead_m, near.same_path))
      frame_.edge_features.push_back(value);
  }
}

}  // namespace traffic::scene
