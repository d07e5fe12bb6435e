// Fills Road::near: for each lane, the lanes on which neighbours of its vehicles may be. These are
// the lanes ahead and behind within kNeighbourReachM, the lanes beside all of them, and the lanes
// of conflicting streams.
#include <algorithm>

#include "index.h"
#include "net_file.h"

namespace traffic::scene {
namespace {

/// Finds the lanes near one lane.
class NearLanes {
 public:
  NearLanes(const Road& road, int lane) : road_(road), lane_(lane) {}

  std::vector<NearLane> find() {
    add(lane_, 0, true);
    downstream(lane_, 0);
    upstream(lane_, 0);
    const std::size_t on_path = found_.size();
    for (std::size_t i = 0; i < on_path; ++i) {
      const Edge& edge = road_.edge_of(found_[i].lane);
      for (int l = edge.first_lane; l < edge.first_lane + edge.num_lanes; ++l)
        add(l, found_[i].offset_m, false);
    }
    conflict_partners();
    return std::move(found_);
  }

 private:
  [[nodiscard]] double length(int lane) const { return at(road_.lanes, lane).length_m; }

  bool add(int lane, double offset, bool same_path) {
    const auto known = [&](const NearLane& n) { return n.lane == lane; };
    if (std::any_of(found_.begin(), found_.end(), known)) return false;
    found_.push_back({lane, offset, same_path});
    return true;
  }

  void downstream(int from, double offset) {
    const double start = offset + length(from);
    if (start - length(lane_) > kNeighbourReachM) return;
    for (const Link& link : at(road_.lanes, from).links) {
      const int next = link.via_lane >= 0 ? link.via_lane : link.to_lane;
      if (add(next, start, true)) downstream(next, start);
    }
  }

  void upstream(int to, double offset) {
    if (offset < -kNeighbourReachM) return;
    for (const int before : at(road_.lanes, to).from_lanes) {
      const double start = offset - length(before);
      if (add(before, start, true)) upstream(before, start);
    }
  }

  /// Adds lanes of conflicting streams, with offsets that put all stop lines at the same
  /// coordinate.
  void conflict_partners() {
    const auto [conflict, approach] = at(road_.lane_approach, lane_);
    if (conflict < 0) return;
    const auto& approaches = at(road_.conflicts, conflict).approaches;
    for (const int other : at(approaches, approach).conflicting)
      for (const int l : at(approaches, other).lanes)
        add(l, length(lane_) - length(l), share_a_target(lane_, l));
  }

  [[nodiscard]] bool share_a_target(int a, int b) const {
    for (const Link& one : at(road_.lanes, a).links)
      for (const Link& two : at(road_.lanes, b).links)
        if (one.to_lane == two.to_lane) return true;
    return false;
  }

  const Road& road_;
  int lane_;
  std::vector<NearLane> found_;
};

}  // namespace

void find_near_lanes(Road& road) {
  road.near.clear();
  road.near.reserve(road.lanes.size());
  for (int l = 0; l < static_cast<int>(road.lanes.size()); ++l)
    road.near.push_back(NearLanes(road, l).find());
}

}  // namespace traffic::scene
