#include "node_row.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "columns.h"
#include "index.h"

namespace traffic::scene {
namespace {

float flag(bool value) { return value ? 1.0F : 0.0F; }
float number(int value) { return static_cast<float>(value); }

class NodeRow {
 public:
  NodeRow(const RoadState& state, const Vehicle& vehicle, std::span<float> row)
      : state_(state), v_(vehicle), row_(row) {}

  void fill() {
    std::fill(row_.begin(), row_.end(), 0.0F);
    motion();
    path();
    neighbours();
    control();
    // The conflict ahead decides, but right behind one with none near ahead the one just passed.
    const bool ahead = v_.conflict >= 0 && (v_.line_m <= kLineFar_m || v_.passed < 0);
    if (ahead)
      conflict(v_.conflict, v_.approach);
    else if (v_.passed >= 0)
      conflict(v_.passed, -1);
  }

 private:
  float& set(NodeColumn column) { return row_[static_cast<std::size_t>(column)]; }

  void motion() {
    const float limit = at(state_.road().lanes, v_.lane).speed_limit_mps;
    const float on_route = at(v_.plan->start_m, v_.route_index) + v_.edge_pos_m;
    const double angle = 2 * std::numbers::pi * state_.time_s() / kTimePeriod_s;
    set(kPosition) = on_route - v_.depart_pos_m;
    set(kSpeed) = v_.speed_mps;
    set(kAcceleration) = v_.accel_mps2;
    set(kLaneIndex) = number(at(state_.road().lanes, v_.lane).index);
    set(kRemaining) = std::max(0.0F, v_.plan->end_m - on_route);
    set(kCompletion) = static_cast<float>(v_.progress);
    set(kIsCv) = flag(v_.is_cv);
    set(kTimeSin) = static_cast<float>(std::sin(angle));
    set(kTimeCos) = static_cast<float>(std::cos(angle));
    set(kSpeedLimit) = limit;
    set(kSpeedRatio) = v_.speed_mps / limit;
  }

  void path() {
    set(kLineDistance) = std::clamp(v_.line_m, 0.0F, kLineFar_m);
    set(kLineNear) = std::clamp(v_.line_m, 0.0F, kLineNear_m);
    if (v_.conflict >= 0) {
      const auto& approach = at(at(state_.road().conflicts, v_.conflict).approaches, v_.approach);
      set(kOnMinor) = flag(approach.minor);
      set(kOnMajor) = flag(approach.major);
    }
    set(kInZone) = flag(v_.passed >= 0 && v_.in_zone);
    set(kDownstream) = flag(v_.passed >= 0 && !v_.in_zone);
    set(kFirstCv) = flag(v_.first_cv);
    set(kAhead) = number(v_.ahead);
    set(kBehind) = number(v_.behind);
    set(kLaneEnd) = std::clamp(v_.lane_end_m, 0.0F, kLineFar_m);
    set(kLaneEnds) = flag(v_.lane_end_m < kLineFar_m);
  }

  void neighbours() {
    set(kLeaderGap) = v_.leader_gap_m;
    if (v_.leader >= 0)
      set(kLeaderSpeed) = at(state_.vehicles(), v_.leader).speed_mps - v_.speed_mps;
    set(kFollowerGap) = v_.follower_gap_m;
    if (v_.follower >= 0)
      set(kFollowerSpeed) = at(state_.vehicles(), v_.follower).speed_mps - v_.speed_mps;
  }

  void control() {
    set(kCommanded) = flag(v_.commanded);
    if (v_.commanded)
      set(kCommitLeft) = static_cast<float>(std::max(0.0, v_.committed_until_s - state_.time_s()));
  }

  /// @param approach the vehicle's own; -1: it has passed the stop line
  void conflict(int index, int approach) {
    const Conflict& where = at(state_.road().conflicts, index);
    const ConflictState& now = at(state_.conflicts(), index);
    set(kZoneDensity) = now.zone_density;
    set(kZoneSpeed) = now.zone_speed_mps;
    set(kDownstreamDensity) = now.downstream_density;
    set(kDownstreamSpeed) = now.downstream_speed_mps;
    if (approach < 0) {
      for (int a = 0; a < static_cast<int>(where.approaches.size()); ++a)
        add_conflicting(at(where.approaches, a), at(now.approaches, a));
    } else {
      own(at(where.approaches, approach), at(now.approaches, approach));
      for (const int a : at(where.approaches, approach).conflicting)
        add_conflicting(at(where.approaches, a), at(now.approaches, a));
    }
    if (others_ > 0) {
      set(kFoeDensity) /= number(others_);
      set(kFoeSpeed) /= number(others_);
    }
  }

  void own(const Approach& where, const ApproachState& now) {
    set(kOwnVehicles) = number(now.vehicles);
    set(kOwnQueue) = number(now.queue);
    set(kOwnBacklog) = number(now.backlog);
    set(kOwnPassed) = number(now.passed_30s);
    set(kOwnDensity) = now.near_density;
    set(kOwnSpeed) = now.near_speed_mps;
    const int other_lanes = static_cast<int>(where.lanes.size()) - 1;
    if (other_lanes > 0) {
      const int held = now.lanes_held - (state_.lane_held(v_.stop_lane) ? 1 : 0);
      set(kOthersHeld) = number(held) / number(other_lanes);
    }
    own_signal();
  }

  void own_signal() {
    for (const Link& link : at(state_.road().lanes, v_.stop_lane).links) {
      if (link.light < 0) continue;
      const LightState& light = at(state_.lights(), link.light);
      if (link.light_link < 0 || link.light_link >= static_cast<int>(light.state.size())) continue;
      const bool green = may_drive(at(light.state, link.light_link));
      set(kSignalRed) = flag(!green);
      set(kSignalChange) = std::min(at(light.change_s, link.light_link), kSignalChangeCap_s);
      set(kSignalCycle) = light.cycle_position;
      if (green) return;  // a lane with several links may drive when one of them may
    }
  }

  void add_conflicting(const Approach& where, const ApproachState& now) {
    ++others_;
    set(kFoeVehicles) += number(now.vehicles);
    set(kFoeQueue) += number(now.queue);
    set(kFoeBacklog) += number(now.backlog);
    set(kFoePassed) += number(now.passed_30s);
    set(kFoeDensity) += now.near_density;
    set(kFoeSpeed) += now.near_speed_mps;
    if (where.light < 0) return;
    const LightState& light = at(state_.lights(), where.light);
    set(kFoeSignal) = 1.0F;
    set(kFoeCycle) = light.cycle_position;
    for (const int link : where.light_links) {
      if (link >= static_cast<int>(light.state.size())) continue;
      const bool green = may_drive(at(light.state, link));
      const float change = std::min(at(light.change_s, link), kSignalChangeCap_s);
      // The longest green counts; without any, the green that begins first.
      float& shown = set(kFoeChange);
      if (green)
        shown = set(kFoeGreen) > 0 ? std::max(shown, change) : change;
      else if (set(kFoeGreen) == 0)
        shown = shown > 0 ? std::min(shown, change) : change;
      if (green) set(kFoeGreen) = 1.0F;
    }
  }

  const RoadState& state_;
  const Vehicle& v_;
  std::span<float> row_;
  int others_ = 0;
};

}  // namespace

void fill_node_row(const RoadState& state, const Vehicle& vehicle, std::span<float> row) {
  NodeRow(state, vehicle, row).fill();
}

void fill_global_row(const RoadState& state, std::span<float> row) {
  const auto set = [&](GlobalColumn column) -> float& {
    return row[static_cast<std::size_t>(column)];
  };
  std::fill(row.begin(), row.end(), 0.0F);
  set(kWaiting) = number(state.waiting());
  set(kArrivedLately) = number(state.arrived_30s());
  const double length = state.end_s() > 0 ? state.end_s() : kTimePeriod_s;
  set(kTimeShare) = static_cast<float>(std::min(1.0, state.time_s() / length));
  const auto vehicles = state.vehicles();
  if (vehicles.empty()) return;

  float speed = 0;
  float square = 0;
  float cv_speed = 0;
  set(kMinSpeed) = vehicles.front().speed_mps;
  for (const auto& v : vehicles) {
    speed += v.speed_mps;
    square += v.speed_mps * v.speed_mps;
    set(kMinSpeed) = std::min(set(kMinSpeed), v.speed_mps);
    set(kMaxSpeed) = std::max(set(kMaxSpeed), v.speed_mps);
    set(kMeanAccel) += v.accel_mps2;
    set(kMeanAbsAccel) += std::fabs(v.accel_mps2);
    set(kHardBrakes) += flag(v.braking);
    set(kHaltedShare) += flag(v.speed_mps < 0.1F);
    set(kSlowShare) += flag(v.speed_mps < kQueueSpeed_mps);
    set(kMeanCompletion) += static_cast<float>(v.progress);
    set(kNumCvs) += flag(v.is_cv);
    if (v.is_cv) cv_speed += v.speed_mps;
  }
  const auto n = static_cast<float>(vehicles.size());
  set(kNumVehicles) = n;
  set(kMeanSpeed) = speed / n;
  set(kSpeedDeviation) = std::sqrt(std::max(0.0F, square / n - (speed / n) * (speed / n)));
  for (const auto column : {kMeanAccel, kMeanAbsAccel, kHaltedShare, kSlowShare, kMeanCompletion})
    set(column) /= n;
  if (set(kNumCvs) > 0) set(kCvSpeed) = cv_speed / set(kNumCvs);
}

}  // namespace traffic::scene
