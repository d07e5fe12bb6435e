// RoadState: adds and removes vehicles, follows them along their routes, and counts the score of
// the episode. conflict_state.cpp and lane_order.cpp implement its other member functions.
#include "traffic/scene/road_state.h"

#include <algorithm>
#include <cmath>

#include "index.h"
#include "traffic/core/error.h"

namespace traffic::scene {
namespace {

/// @param vehicles a vector of vehicles sorted by id; const or not
auto position_of(auto& vehicles, std::uint32_t id) {
  return std::lower_bound(vehicles.begin(), vehicles.end(), id,
                          [](const Vehicle& v, std::uint32_t wanted) { return v.id < wanted; });
}

/// @return null if there is no such vehicle
auto* find_in(auto& vehicles, std::uint32_t id) {
  const auto it = position_of(vehicles, id);
  return it != vehicles.end() && it->id == id ? &*it : nullptr;
}

}  // namespace

RoadState::RoadState(std::shared_ptr<const Road> road, ShieldLimits limits)
    : road_(std::move(road)), limits_(limits) {
  reset(1.0, 0.0);
}

void RoadState::reset(double step_length_s, double end_s) {
  TRAFFIC_CHECK(step_length_s > 0, "the step length is {} s, expected more than 0", step_length_s);
  step_length_s_ = step_length_s;
  end_s_ = end_s;
  time_s_ = 0;
  vehicles_.clear();
  away_.clear();
  lights_.assign(road_->lights.size(), {});
  lane_held_.assign(road_->lanes.size(), 0);
  passes_.clear();
  arrivals_.clear();
  score_ = {};
  conflict_numerators_.assign(road_->conflicts.size(), 0.0);
  conflict_losses_s_ = conflict_co2_g_ = conflict_electricity_wh_ = conflict_driven_m_ =
      conflict_numerators_;
  conflicts_.assign(road_->conflicts.size(), {});
  for (std::size_t c = 0; c < conflicts_.size(); ++c)
    conflicts_[c].approaches.resize(road_->conflicts[c].approaches.size());
  order_lanes();
  update_conflicts({});
}

void RoadState::depart(const Vehicle& vehicle, double waited_s) {
  TRAFFIC_CHECK(vehicle.plan != nullptr, "vehicle {} has no route", vehicle.id);
  TRAFFIC_CHECK(vehicles_.empty() || vehicles_.back().id < vehicle.id,
                "vehicle {} departs after vehicle {}, expected increasing numbers", vehicle.id,
                vehicles_.back().id);
  vehicles_.push_back(vehicle);
  vehicles_.back().counted_loss_s = vehicle.time_loss_s;
  ++score_.departed;
  take_delay(vehicle.plan, waited_s, vehicle.idle_per_s);
}

void RoadState::leave(std::uint32_t id, bool arrived) {
  auto* group = &vehicles_;
  auto it = position_of(vehicles_, id);
  if (it == vehicles_.end() || it->id != id) {
    group = &away_;
    it = position_of(away_, id);
  }
  TRAFFIC_CHECK(it != group->end() && it->id == id,
                "vehicle {} leaves, but it is not among the vehicles that have departed", id);
  take_losses(*it);
  score_.completion_sum -= it->progress;
  if (arrived) {
    if (it->conflict >= 0) note_pass(it->conflict, it->approach, 1.0 - it->progress);
    ++score_.arrived;
    arrivals_.push_back(time_s_ + step_length_s_);
  } else {
    if (it->conflict >= 0) at(conflict_numerators_, it->conflict) -= it->progress;
    ++score_.removed;
  }
  group->erase(it);
}

void RoadState::pass_through(bool arrived, double time_loss_s, double waited_s) {
  ++score_.departed;
  score_.time_loss_s += time_loss_s;
  score_.depart_delay_s += waited_s;
  if (!arrived) {
    ++score_.removed;
    return;
  }
  ++score_.arrived;
  arrivals_.push_back(time_s_ + step_length_s_);
}

std::span<const double> RoadState::conflict_parts(Term term) const {
  switch (term) {
    case Term::kThroughput:
      return conflict_numerators_;
    case Term::kDelay:
      return conflict_losses_s_;
    case Term::kCo2:
      return conflict_co2_g_;
    case Term::kElectricity:
      return conflict_electricity_wh_;
    case Term::kDistance:
      break;
  }
  return conflict_driven_m_;
}

Vehicle* RoadState::find(std::uint32_t id) {
  auto* driving = find_in(vehicles_, id);
  return driving != nullptr ? driving : find_in(away_, id);
}

const Vehicle* RoadState::find(std::uint32_t id) const {
  const auto* driving = find_in(vehicles_, id);
  return driving != nullptr ? driving : find_in(away_, id);
}

void RoadState::update(const StepEvents& events) {
  time_s_ = events.time_s;
  sort_out_away();
  for (auto& vehicle : vehicles_) advance(vehicle);
  order_lanes();
  find_leaders();
  rank_before_stop_lines();
  if (!events.lights.empty()) lights_ = events.lights;
  update_conflicts(events);
  tally(events);
}

/// Moves vehicles without a lane from vehicles_ to away_, and back once they have a lane again.
void RoadState::sort_out_away() {
  const auto has_lane = [](const Vehicle& v) { return v.lane >= 0; };
  for (auto it = away_.begin(); it != away_.end();) {
    if (has_lane(*it)) {
      it->previous_speed_mps = it->speed_mps;  // sets the acceleration to 0: it is not known
      vehicles_.insert(position_of(vehicles_, it->id), *it);
      it = away_.erase(it);
    } else {
      ++it;
    }
  }
  if (std::all_of(vehicles_.begin(), vehicles_.end(), has_lane)) return;
  for (const auto& v : vehicles_)
    if (!has_lane(v)) away_.insert(position_of(away_, v.id), v);
  std::erase_if(vehicles_, [&](const Vehicle& v) { return !has_lane(v); });
}

/// Locates the vehicle on its route, and adds its new progress to the scores of the episode and of
/// the conflict ahead.
void RoadState::advance(Vehicle& v) {
  const int conflict = v.conflict;
  const int approach = v.approach;
  const double progress = v.progress;
  locate(v);
  const double covered = at(v.plan->start_m, v.route_index) + v.edge_pos_m;
  if (v.fresh) v.depart_pos_m = covered - v.driven_m;
  v.accel_mps2 = v.fresh ? 0.0 : (v.speed_mps - v.previous_speed_mps) / step_length_s_;
  v.previous_speed_mps = v.speed_mps;
  v.fresh = false;
  const double driven_m = covered - v.depart_pos_m;
  const double share = v.plan->length_m > 0 ? driven_m / v.plan->length_m : 0.0;
  v.progress = std::clamp(share, progress, 1.0);
  score_.completion_sum += v.progress - progress;
  if (conflict < 0) return;
  if (v.conflict == conflict)
    at(conflict_numerators_, conflict) += v.progress - progress;
  else
    note_pass(conflict, approach, 1.0 - progress);
}

/// Notes that a vehicle has passed a conflict.
/// @param rest share of the vehicle's route that had not yet counted for the conflict
void RoadState::note_pass(int conflict, int approach, double rest) {
  at(conflict_numerators_, conflict) += rest;
  passes_.push_back({time_s_, conflict, approach});
}

/// Finds the vehicle's position on its route, the stop line and conflict ahead of it, and the
/// conflict that it has just passed.
void RoadState::locate(Vehicle& v) const {
  const Lane& lane = at(road_->lanes, v.lane);
  const bool inside = lane.exit_lane >= 0;
  const Lane& target = inside ? at(road_->lanes, lane.exit_lane) : lane;
  const int k = v.plan->find(target.edge, v.route_index);
  TRAFFIC_CHECK(k >= 0, "vehicle {} is on lane {}, which is not on its route", v.id, lane.id);
  v.route_index = k;
  v.edge_pos_m = inside ? v.lane_pos_m - lane.length_m - lane.exit_m : v.lane_pos_m;
  const int slot = at(v.plan->first_slot, k) + target.index;
  v.lane_end_m = at(v.plan->continuation_m, slot) - v.edge_pos_m;
  v.stop_lane = at(v.plan->stop_lane, slot);
  v.conflict = v.approach = -1;
  v.line_m = kFarAheadM;
  if (v.stop_lane >= 0) {
    std::tie(v.conflict, v.approach) = at(road_->lane_approach, v.stop_lane);
    v.line_m =
        at(road_->edges, target.edge).length_m - v.edge_pos_m + at(v.plan->ahead, k).to_line_m;
  }
  v.passed = -1;
  v.in_zone = false;
  const double pos = std::max(v.edge_pos_m, 0.0);
  for (const auto& stretch : at(road_->stretches, target.edge))
    if (pos >= stretch.from_m && pos <= stretch.to_m && (v.passed < 0 || stretch.zone)) {
      v.passed = stretch.conflict;
      v.in_zone = stretch.zone;
    }
}

/// Adds the step to the counts of the score.
void RoadState::tally(const StepEvents& events) {
  score_.seconds = time_s_;
  score_.waiting = static_cast<std::int64_t>(events.waiting.size());
  score_.discarded += events.discarded;
  score_.running = static_cast<std::int64_t>(vehicles_.size() + away_.size());
  score_.collisions += events.collisions;
  score_.emergency_stops += events.emergency_stops;
  score_.emergency_brakes += events.emergency_brakes;
  score_.teleports += events.teleports;
  score_.vehicle_steps += static_cast<std::int64_t>(vehicles_.size());
  for (const auto& waiting : events.waiting) {
    take_delay(waiting.plan, waiting.waited_s, waiting.idle_per_s);
  }
  for (auto& v : away_) take_losses(v);
  for (auto& v : vehicles_) {
    take_losses(v);
    const double speed = v.speed_mps;
    score_.speed_sum += speed;
    score_.speed_square_sum += speed * speed;
    if (speed < kStandingMps) score_.standing_s += step_length_s_;
    score_.abs_accel_sum += std::fabs(v.accel_mps2);
    const bool braking = v.accel_mps2 < -kHardBrakeMps2;
    if (braking && !v.braking) ++score_.hard_brakes;
    v.braking = braking;
    if (v.unsafe) ++score_.unsafe_steps;
    if (!v.commanded) continue;
    ++score_.cv_steps;
    if (v.unsafe || (v.follower >= 0 && at(vehicles_, v.follower).unsafe)) ++score_.unsafe_cv_steps;
  }
  while (!arrivals_.empty() && arrivals_.front() <= time_s_ - kRecentS) arrivals_.pop_front();
}

/// Adds the time loss, the emissions and the distance of a vehicle since the last call. They are
/// added to the score and to the vehicle's conflict (the one ahead, else the one that it has just
/// passed).
void RoadState::take_losses(Vehicle& v) {
  v.step_loss_s = v.time_loss_s - v.counted_loss_s;
  v.counted_loss_s = v.time_loss_s;
  score_.time_loss_s += v.step_loss_s;
  const int conflict = v.conflict >= 0 ? v.conflict : v.passed;
  score_.driven_m += v.step_driven_m;
  score_.road_emissions += v.step_emissions;
  if (conflict < 0) return;
  at(conflict_losses_s_, conflict) += v.step_loss_s;
  at(conflict_co2_g_, conflict) += v.step_emissions.co2_g;
  at(conflict_electricity_wh_, conflict) += v.step_emissions.electricity_wh;
  at(conflict_driven_m_, conflict) += v.step_driven_m;
}

/// Adds the time that a vehicle has waited before it could enter the road, and its emissions in
/// this time. They are added to the score and to the first conflict of the vehicle's route.
/// @param plan null if the route is not known
void RoadState::take_delay(const RoutePlan* plan, double waited_s, const Emissions& idle_per_s) {
  const Emissions emissions = waited_s * idle_per_s;
  score_.depart_delay_s += waited_s;
  score_.waiting_emissions += emissions;
  if (plan == nullptr) return;
  if (const int lane = plan->stop_lane.front(); lane >= 0) {
    const int conflict = at(road_->lane_approach, lane).first;
    at(conflict_losses_s_, conflict) += waited_s;
    at(conflict_co2_g_, conflict) += emissions.co2_g;
    at(conflict_electricity_wh_, conflict) += emissions.electricity_wh;
  }
}

}  // namespace traffic::scene
