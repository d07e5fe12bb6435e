// The member functions of RoadState that sort vehicles along lanes. They find leaders, followers
// and the ranks of vehicles before a stop line.
#include <algorithm>
#include <numeric>

#include "index.h"
#include "traffic/scene/road_state.h"

namespace traffic::scene {

void RoadState::order_lanes() {
  order_.ptr.assign(road_->lanes.size() + 1, 0);
  order_.vehicle.resize(vehicles_.size());
  for (const auto& v : vehicles_) ++at(order_.ptr, v.lane + 1);
  std::partial_sum(order_.ptr.begin(), order_.ptr.end(), order_.ptr.begin());
  // The loop moves each lane's start forward by one for each vehicle that it places. In the end it
  // has moved every start to the next lane's start, so all starts are shifted back.
  for (std::size_t i = 0; i < vehicles_.size(); ++i)
    at(order_.vehicle, at(order_.ptr, vehicles_[i].lane)++) = static_cast<std::int32_t>(i);
  std::shift_right(order_.ptr.begin(), order_.ptr.end(), 1);
  order_.ptr.front() = 0;
  for (std::size_t l = 0; l < road_->lanes.size(); ++l)
    std::sort(order_.vehicle.begin() + order_.ptr[l], order_.vehicle.begin() + order_.ptr[l + 1],
              [&](int a, int b) {
                const auto& va = at(vehicles_, a);
                const auto& vb = at(vehicles_, b);
                return va.lane_pos_m != vb.lane_pos_m ? va.lane_pos_m < vb.lane_pos_m : a < b;
              });
}

void RoadState::find_leaders() {
  for (auto& v : vehicles_) {
    v.leader = v.follower = -1;
    v.leader_gap_m = v.follower_gap_m = kLeaderReachM;
  }
  for (std::size_t rank = 0; rank < order_.vehicle.size(); ++rank) {
    Vehicle& v = at(vehicles_, order_.vehicle[rank]);
    if (static_cast<std::int32_t>(rank) + 1 < at(order_.ptr, v.lane + 1)) {
      v.leader = order_.vehicle[rank + 1];
      v.leader_gap_m = at(vehicles_, v.leader).lane_pos_m - v.lane_pos_m;
    } else {
      find_leader_beyond_lane(v);
    }
    if (v.leader < 0) continue;
    v.leader_gap_m = std::max(0.0, v.leader_gap_m - at(vehicles_, v.leader).length_m);
    if (v.leader_gap_m >= kLeaderReachM) {
      v.leader = -1;
      v.leader_gap_m = kLeaderReachM;
    }
  }
  for (std::size_t i = 0; i < vehicles_.size(); ++i) {
    Vehicle& v = vehicles_[i];
    v.unsafe = false;
    if (v.leader < 0) continue;
    Vehicle& leader = at(vehicles_, v.leader);
    if (v.leader_gap_m < leader.follower_gap_m) {
      leader.follower = static_cast<int>(i);
      leader.follower_gap_m = v.leader_gap_m;
    }
    v.unsafe = is_unsafe(v.leader_gap_m - v.min_gap_m, v.speed_mps, leader.speed_mps, limits_);
  }
}

/// Finds the leader on the next lanes of the route. Sets leader_gap_m to the distance between the
/// front bumpers; the caller subtracts the leader's length.
void RoadState::find_leader_beyond_lane(Vehicle& v) const {
  int lane = v.lane;
  int k = v.route_index;
  double distance = at(road_->lanes, lane).length_m - v.lane_pos_m;
  while (distance < kLeaderReachM + v.length_m) {
    const bool inside = at(road_->lanes, lane).exit_lane >= 0;
    const Link* link = nullptr;
    if (inside) {
      link = &at(road_->lanes, lane).links.front();
    } else if (k + 1 < static_cast<int>(v.plan->edges.size())) {
      link = road_->link_to(lane, at(v.plan->edges, ++k));
    }
    if (link == nullptr) return;
    lane = link->via_lane >= 0 ? link->via_lane : link->to_lane;
    if (const auto on_lane = order_.on(lane); !on_lane.empty()) {
      v.leader = on_lane.front();
      v.leader_gap_m = distance + at(vehicles_, v.leader).lane_pos_m;
      return;
    }
    distance += at(road_->lanes, lane).length_m;
  }
}

/// Ranks the vehicles before the stop line of each lane by distance, and finds the lanes whose
/// first CV is under control.
void RoadState::rank_before_stop_lines() {
  std::fill(lane_held_.begin(), lane_held_.end(), 0);
  std::vector<int> queue;
  for (std::size_t i = 0; i < vehicles_.size(); ++i) {
    vehicles_[i].first_cv = false;
    vehicles_[i].ahead = vehicles_[i].behind = 0;
    if (vehicles_[i].stop_lane >= 0) queue.push_back(static_cast<int>(i));
  }
  std::sort(queue.begin(), queue.end(), [&](int a, int b) {
    const auto& va = at(vehicles_, a);
    const auto& vb = at(vehicles_, b);
    if (va.stop_lane != vb.stop_lane) return va.stop_lane < vb.stop_lane;
    return va.line_m != vb.line_m ? va.line_m < vb.line_m : a < b;
  });
  for (std::size_t begin = 0; begin < queue.size();) {
    const int lane = at(vehicles_, queue[begin]).stop_lane;
    std::size_t end = begin;
    while (end < queue.size() && at(vehicles_, queue[end]).stop_lane == lane) ++end;
    bool seen_cv = false;
    for (std::size_t i = begin; i < end; ++i) {
      Vehicle& v = at(vehicles_, queue[i]);
      v.ahead = static_cast<int>(i - begin);
      v.behind = static_cast<int>(end - i) - 1;
      v.first_cv = v.is_cv && !seen_cv;
      if (v.first_cv && v.commanded) at(lane_held_, lane) = 1;
      seen_cv |= v.is_cv;
    }
    begin = end;
  }
}

}  // namespace traffic::scene
