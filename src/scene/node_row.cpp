// The node features of a frame, which describe one vehicle and the conflict ahead of it.
#include "node_row.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "columns.h"
#include "index.h"

namespace traffic::scene {
namespace {

/// Sums over the conflicting approaches: those whose streams the vehicle's own stream meets.
struct Conflicting {
  int approaches = 0;
  int vehicles = 0;
  int queue = 0;
  int backlog = 0;
  int passed = 0;
  double density = 0;
  double speed_mps = 0;
  bool signal = false;
  bool green = false;
  double change_s =
      0;  ///< time until the last present green ends; without one, until the first green begins
  double cycle = 0;  ///< elapsed share of the cycle of the light that was added last, 0..1

  void add(const Approach& where, const ApproachState& now, const RoadState& state) {
    ++approaches;
    vehicles += now.vehicles;
    queue += now.queue;
    backlog += now.backlog;
    passed += now.passed_30s;
    density += now.near_density;
    speed_mps += now.near_speed_mps;
    if (where.light >= 0) add_signal(where, at(state.lights(), where.light));
  }

 private:
  void add_signal(const Approach& where, const LightState& light) {
    cycle = light.cycle_position;
    for (const int link : where.light_links) {
      if (link >= static_cast<int>(light.state.size())) continue;
      const bool drives = may_drive(at(light.state, link));
      const double change = std::min(at(light.change_s, link), kSignalChangeCapS);
      if (!signal || (drives && !green))
        change_s = change;
      else if (drives == green)
        change_s = drives ? std::max(change_s, change) : std::min(change_s, change);
      signal = true;
      green |= drives;
    }
  }
};

/// Writes the row of one vehicle.
class NodeRow {
 public:
  NodeRow(const RoadState& state, const Vehicle& vehicle, std::span<float> row)
      : state_(state), v_(vehicle), row_(row) {}

  void fill() {
    std::fill(row_.begin(), row_.end(), 0.0F);
    motion();
    path();
    neighbours();
    set(kCommanded, v_.commanded);
    if (v_.commanded) set(kCommitLeft, std::max(0.0, v_.committed_until_s - state_.time_s()));
    // Uses the conflict ahead or, if none is within kLineFarM, the conflict just passed.
    if (v_.conflict >= 0 && (v_.line_m <= kLineFarM || v_.passed < 0))
      conflict(v_.conflict, v_.approach);
    else if (v_.passed >= 0)
      conflict(v_.passed, -1);
  }

 private:
  void set(NodeColumn column, double value) {
    row_[static_cast<std::size_t>(column)] = static_cast<float>(value);
  }

  void motion() {
    const Lane& lane = at(state_.road().lanes, v_.lane);
    const double on_route = at(v_.plan->start_m, v_.route_index) + v_.edge_pos_m;
    const double angle = 2 * std::numbers::pi * state_.time_s() / kTimePeriodS;
    set(kPosition, on_route - v_.depart_pos_m);
    set(kSpeed, v_.speed_mps);
    set(kAcceleration, v_.accel_mps2);
    set(kLaneIndex, lane.index);
    set(kRemaining, std::max(0.0, v_.plan->end_m - on_route));
    set(kCompletion, v_.progress);
    set(kIsCv, v_.is_cv);
    set(kTimeSin, std::sin(angle));
    set(kTimeCos, std::cos(angle));
    set(kSpeedLimit, lane.speed_limit_mps);
    // If the limit is 0, standing vehicles are as fast as allowed.
    set(kSpeedRatio, lane.speed_limit_mps > 0 ? v_.speed_mps / lane.speed_limit_mps : 1.0);
  }

  void path() {
    set(kLineDistance, std::clamp(v_.line_m, 0.0, kLineFarM));
    set(kLineNear, std::clamp(v_.line_m, 0.0, kLineNearM));
    if (v_.conflict >= 0) {
      const auto& approach = at(at(state_.road().conflicts, v_.conflict).approaches, v_.approach);
      set(kOnMinor, approach.minor);
      set(kOnMajor, approach.major);
    }
    set(kInZone, v_.passed >= 0 && v_.in_zone);
    set(kDownstream, v_.passed >= 0 && !v_.in_zone);
    set(kFirstCv, v_.first_cv);
    set(kAhead, v_.ahead);
    set(kBehind, v_.behind);
    set(kLaneEnd, std::clamp(v_.lane_end_m, 0.0, kLineFarM));
    set(kLaneEnds, v_.lane_end_m < kLineFarM);
  }

  void neighbours() {
    set(kLeaderGap, v_.leader_gap_m);
    set(kFollowerGap, v_.follower_gap_m);
    const auto relative_speed = [&](int other) {
      return other >= 0 ? at(state_.vehicles(), other).speed_mps - v_.speed_mps : 0.0;
    };
    set(kLeaderSpeed, relative_speed(v_.leader));
    set(kFollowerSpeed, relative_speed(v_.follower));
  }

  /// @param approach approach of the vehicle; -1: it has passed the stop line
  void conflict(int index, int approach) {
    const Conflict& where = at(state_.road().conflicts, index);
    const ConflictState& now = at(state_.conflicts(), index);
    set(kZoneDensity, now.zone_density);
    set(kZoneSpeed, now.zone_speed_mps);
    set(kDownstreamDensity, now.downstream_density);
    set(kDownstreamSpeed, now.downstream_speed_mps);
    Conflicting sum;
    if (approach < 0) {
      for (int a = 0; a < static_cast<int>(where.approaches.size()); ++a)
        sum.add(at(where.approaches, a), at(now.approaches, a), state_);
    } else {
      own(at(where.approaches, approach), at(now.approaches, approach));
      for (const int a : at(where.approaches, approach).conflicting)
        sum.add(at(where.approaches, a), at(now.approaches, a), state_);
    }
    if (sum.approaches > 0) conflicting(sum);
  }

  void own(const Approach& where, const ApproachState& now) {
    set(kOwnVehicles, now.vehicles);
    set(kOwnQueue, now.queue);
    set(kOwnBacklog, now.backlog);
    set(kOwnPassed, now.passed_30s);
    set(kOwnDensity, now.near_density);
    set(kOwnSpeed, now.near_speed_mps);
    const int other_lanes = static_cast<int>(where.lanes.size()) - 1;
    const int others_held = now.lanes_held - (state_.lane_held(v_.stop_lane) ? 1 : 0);
    if (other_lanes > 0) set(kOthersHeld, static_cast<double>(others_held) / other_lanes);
    if (where.light >= 0) own_signal(where);
  }

  /// Writes the state of the light at the stop line, for the links of the vehicle's lane. If the
  /// light stands further upstream, writes its state for the links that release the stream.
  void own_signal(const Approach& where) {
    const LightState& light = at(state_.lights(), where.light);
    set(kSignalCycle, light.cycle_position);
    bool at_line = false;
    for (const Link& link : at(state_.road().lanes, v_.stop_lane).links)
      if (link.light == where.light) {
        at_line = true;
        if (show_signal(light, link.light_link)) return;
      }
    if (at_line) return;
    for (const int link : where.light_links)
      if (show_signal(light, link)) return;
  }

  /// Writes whether the link has red, and the time until this changes.
  /// @return whether the link may drive; if so, the caller need not look at the other links
  bool show_signal(const LightState& light, int link) {
    if (link >= static_cast<int>(light.state.size())) return false;
    const bool green = may_drive(at(light.state, link));
    set(kSignalRed, !green);
    set(kSignalChange, std::min(at(light.change_s, link), kSignalChangeCapS));
    return green;
  }

  void conflicting(const Conflicting& sum) {
    set(kFoeVehicles, sum.vehicles);
    set(kFoeQueue, sum.queue);
    set(kFoeBacklog, sum.backlog);
    set(kFoePassed, sum.passed);
    set(kFoeDensity, sum.density / sum.approaches);
    set(kFoeSpeed, sum.speed_mps / sum.approaches);
    set(kFoeSignal, sum.signal);
    set(kFoeGreen, sum.green);
    set(kFoeChange, sum.change_s);
    set(kFoeCycle, sum.cycle);
  }

  const RoadState& state_;
  const Vehicle& v_;
  std::span<float> row_;
};

}  // namespace

void fill_node_row(const RoadState& state, const Vehicle& vehicle, std::span<float> row) {
  NodeRow(state, vehicle, row).fill();
}

}  // namespace traffic::scene
