// Builds frames (the graphs that models observe) from recorded vehicles whose road is not known.
#include "traffic/scene/mapless_frame_builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "columns.h"
#include "index.h"
#include "node_row.h"
#include "traffic/scene/frame_builder.h"

namespace traffic::scene {
namespace {

/// Node features that a recording with lanes and speed limits provides.
constexpr std::array kKnownNodeColumns = {
    kPosition,  kSpeed,       kAcceleration, kLaneIndex,     kIsCv,       kTimeSin,   kTimeCos,
    kLeaderGap, kLeaderSpeed, kFollowerGap,  kFollowerSpeed, kSpeedLimit, kSpeedRatio};
/// Node features that a recording without lanes does not provide.
constexpr std::array kLaneColumns = {kLaneIndex, kLeaderGap, kLeaderSpeed, kFollowerGap,
                                     kFollowerSpeed};
/// Features of the whole traffic that no recording provides.
constexpr std::array kUnknownGlobalColumns = {kMeanCompletion, kWaiting};

template <typename Columns>
bool is_among(const Columns& columns, int column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

/// Number of the cell, in one direction, that contains a coordinate. Cells are squares with sides
/// of kNeighbourReachM; neighbours are searched for in them.
std::int64_t cell_of(double m) {
  return static_cast<std::int64_t>(std::floor(m / kNeighbourReachM));
}

/// Sort key of a cell. Neighbouring cells of a row have consecutive keys, so a single range of keys
/// covers three of them.
std::int64_t key_of(std::int64_t column, std::int64_t row) { return row * (1LL << 32) + column; }

}  // namespace

std::vector<std::string_view> MaplessFrameBuilder::missing_features(bool speed_limits, bool lanes) {
  std::vector<std::string_view> names;
  for (int c = 0; c < kNumNodeColumns; ++c) {
    const bool known = is_among(kKnownNodeColumns, c) &&
                       (speed_limits || (c != kSpeedLimit && c != kSpeedRatio)) &&
                       (lanes || !is_among(kLaneColumns, c));
    if (!known) names.push_back(at(node_features(), c).name);
  }
  for (const int c : kUnknownGlobalColumns) names.push_back(at(global_features(), c).name);
  return names;
}

const GraphFrame& MaplessFrameBuilder::build(double time_s,
                                             std::span<const MaplessVehicle> vehicles,
                                             int arrived_30s) {
  frame_.time_s = time_s;
  take(vehicles);
  find_leaders(vehicles);
  frame_.node_features.assign(kNumNodeColumns * vehicles.size(), 0.0F);
  for (std::size_t i = 0; i < vehicles.size(); ++i) fill_node(vehicles[i], i);
  sort_into_cells(vehicles);
  frame_.edge_ptr.assign(1, 0);
  frame_.edge_src.clear();
  frame_.edge_features.clear();
  for (std::size_t i = 0; i < vehicles.size(); ++i) {
    gather(vehicles, i);
    append_edges(vehicles, i);
    frame_.edge_ptr.push_back(static_cast<std::int32_t>(frame_.edge_src.size()));
  }
  fill_global_row(
      vehicles_,
      {.arrived_30s = static_cast<double>(arrived_30s), .time_share = time_share(time_s, 0)},
      frame_.global_features);
  return frame_;
}

void MaplessFrameBuilder::take(std::span<const MaplessVehicle> vehicles) {
  vehicles_.resize(vehicles.size());
  frame_.vehicle_id.resize(vehicles.size());
  frame_.xy_m.resize(2 * vehicles.size());
  for (std::size_t i = 0; i < vehicles.size(); ++i) {
    const MaplessVehicle& from = vehicles[i];
    Vehicle& v = vehicles_[i];
    v.id = from.id;
    v.is_cv = from.is_cv;
    v.length_m = from.length_m;
    v.lane_pos_m = from.lane_pos_m;
    v.speed_mps = from.speed_mps;
    v.accel_mps2 = from.accel_mps2;
    v.braking = from.accel_mps2 < -kHardBrakeMps2;
    v.leader = v.follower = -1;
    v.leader_gap_m = v.follower_gap_m = kLeaderReachM;
    frame_.vehicle_id[i] = from.id;
    frame_.xy_m[2 * i] = static_cast<float>(from.xy_m.x);
    frame_.xy_m[2 * i + 1] = static_cast<float>(from.xy_m.y);
  }
}

void MaplessFrameBuilder::find_leaders(std::span<const MaplessVehicle> vehicles) {
  by_lane_.clear();
  for (std::size_t i = 0; i < vehicles.size(); ++i) {
    if (vehicles[i].lane >= 0) by_lane_.push_back(static_cast<std::int32_t>(i));
  }
  std::sort(by_lane_.begin(), by_lane_.end(), [&](int a, int b) {
    const auto& va = at(vehicles, a);
    const auto& vb = at(vehicles, b);
    if (va.lane != vb.lane) return va.lane < vb.lane;
    return va.lane_pos_m != vb.lane_pos_m ? va.lane_pos_m < vb.lane_pos_m : a < b;
  });
  for (std::size_t rank = 0; rank + 1 < by_lane_.size(); ++rank) {
    const int rear = by_lane_[rank];
    const int front = by_lane_[rank + 1];
    if (at(vehicles, rear).lane != at(vehicles, front).lane) continue;
    const double gap = std::max(0.0, at(vehicles, front).lane_pos_m - at(vehicles, front).length_m -
                                         at(vehicles, rear).lane_pos_m);
    if (gap >= kLeaderReachM) continue;
    at(vehicles_, rear).leader = front;
    at(vehicles_, rear).leader_gap_m = gap;
    at(vehicles_, front).follower = rear;
    at(vehicles_, front).follower_gap_m = gap;
  }
  for (std::size_t i = 0; i < vehicles.size(); ++i) {
    Vehicle& v = vehicles_[i];
    if (v.leader >= 0 || vehicles[i].leader < 0) continue;
    if (vehicles[i].leader_gap_m >= kLeaderReachM) continue;
    v.leader = vehicles[i].leader;
    v.leader_gap_m = std::max(0.0, vehicles[i].leader_gap_m);
    Vehicle& leader = at(vehicles_, v.leader);
    if (leader.follower >= 0 && leader.follower_gap_m <= v.leader_gap_m) continue;
    leader.follower = static_cast<int>(i);
    leader.follower_gap_m = v.leader_gap_m;
  }
}

void MaplessFrameBuilder::fill_node(const MaplessVehicle& vehicle, std::size_t i) {
  const Vehicle& v = vehicles_[i];
  const auto row = std::span(frame_.node_features).subspan(kNumNodeColumns * i, kNumNodeColumns);
  const auto set = [&](NodeColumn column, double value) {
    row[static_cast<std::size_t>(column)] = static_cast<float>(value);
  };
  const double angle = 2 * std::numbers::pi * frame_.time_s / kTimePeriodS;
  const auto relative_speed = [&](int other) {
    return other >= 0 ? at(vehicles_, other).speed_mps - v.speed_mps : 0.0;
  };
  set(kPosition, vehicle.position_m);
  set(kSpeed, v.speed_mps);
  set(kAcceleration, v.accel_mps2);
  set(kLaneIndex, vehicle.lane_index);
  set(kIsCv, v.is_cv);
  set(kTimeSin, std::sin(angle));
  set(kTimeCos, std::cos(angle));
  if (vehicle.speed_limit_mps > 0) {
    set(kSpeedLimit, vehicle.speed_limit_mps);
    set(kSpeedRatio, v.speed_mps / vehicle.speed_limit_mps);
  }
  if (vehicle.lane < 0) return;
  set(kLeaderGap, v.leader_gap_m);
  set(kFollowerGap, v.follower_gap_m);
  set(kLeaderSpeed, relative_speed(v.leader));
  set(kFollowerSpeed, relative_speed(v.follower));
}

void MaplessFrameBuilder::sort_into_cells(std::span<const MaplessVehicle> vehicles) {
  cells_.resize(vehicles.size());
  for (std::size_t i = 0; i < vehicles.size(); ++i) {
    const Point& p = vehicles[i].xy_m;
    cells_[i] = {key_of(cell_of(p.x), cell_of(p.y)), static_cast<std::int32_t>(i)};
  }
  std::sort(cells_.begin(), cells_.end(), [](const Cell& a, const Cell& b) {
    return a.key != b.key ? a.key < b.key : a.vehicle < b.vehicle;
  });
}

/// Collects up to kMaxNeighbours neighbours of a vehicle, the nearest first. It searches the
/// vehicle's cell and the eight cells around it.
void MaplessFrameBuilder::gather(std::span<const MaplessVehicle> vehicles, std::size_t i) {
  near_.clear();
  const Point& p = vehicles[i].xy_m;
  for (std::int64_t row = cell_of(p.y) - 1; row <= cell_of(p.y) + 1; ++row) {
    const std::int64_t last = key_of(cell_of(p.x) + 1, row);
    auto it = std::lower_bound(cells_.begin(), cells_.end(), key_of(cell_of(p.x) - 1, row),
                               [](const Cell& cell, std::int64_t key) { return cell.key < key; });
    for (; it != cells_.end() && it->key <= last; ++it) {
      if (it->vehicle == static_cast<std::int32_t>(i)) continue;
      const Point& other = at(vehicles, it->vehicle).xy_m;
      const double square = (other.x - p.x) * (other.x - p.x) + (other.y - p.y) * (other.y - p.y);
      if (square <= kNeighbourReachM * kNeighbourReachM) near_.push_back({square, it->vehicle});
    }
  }
  const auto keep = std::min<std::size_t>(near_.size(), kMaxNeighbours);
  std::partial_sort(near_.begin(), near_.begin() + static_cast<std::ptrdiff_t>(keep), near_.end(),
                    [](const Near& a, const Near& b) {
                      return a.square_m2 != b.square_m2 ? a.square_m2 < b.square_m2
                                                        : a.vehicle < b.vehicle;
                    });
  near_.resize(keep);
}

void MaplessFrameBuilder::append_edges(std::span<const MaplessVehicle> vehicles, std::size_t i) {
  const MaplessVehicle& v = vehicles[i];
  for (const Near& near : near_) {
    const MaplessVehicle& other = at(vehicles, near.vehicle);
    const bool same_lane = v.lane >= 0 && v.lane == other.lane;
    const double ahead = same_lane ? other.lane_pos_m - v.lane_pos_m
                                   : (other.xy_m.x - v.xy_m.x) * v.heading.x +
                                         (other.xy_m.y - v.xy_m.y) * v.heading.y;
    frame_.edge_src.push_back(near.vehicle);
    for (const float value : edge_row(vehicles_[i], at(vehicles_, near.vehicle), ahead, same_lane))
      frame_.edge_features.push_back(value);
  }
}

}  // namespace traffic::scene
