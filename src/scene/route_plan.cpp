// Computes the plan of a route: distances, the conflict ahead of each edge, and where each lane
// leads.
#include "traffic/scene/route_plan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "index.h"
#include "traffic/core/error.h"

namespace traffic::scene {
namespace {

/// Builds a plan from the end of the route to its start.
class Planner {
 public:
  Planner(const Road& road, RoutePlan& plan) : road_(road), plan_(plan) {}

  void run() {
    const std::size_t n = plan_.edges.size();
    plan_.ahead.resize(n);
    plan_.first_slot.resize(n);
    int slots = 0;
    for (std::size_t k = 0; k < n; ++k) {
      plan_.first_slot[k] = slots;
      slots += edge(k).num_lanes;
    }
    plan_.stop_lane.assign(static_cast<std::size_t>(slots), -1);
    plan_.continuation_m.assign(static_cast<std::size_t>(slots), kFarAheadM);
    plan_.lane_changes.assign(static_cast<std::size_t>(slots), 0);
    for (std::size_t k = n; k-- > 0;) {
      look_ahead(k);
      for (int i = 0; i < edge(k).num_lanes; ++i) fill_slot(k, i);
    }
    measure();
  }

 private:
  [[nodiscard]] const Edge& edge(std::size_t k) const { return at(road_.edges, plan_.edges[k]); }
  [[nodiscard]] bool last(std::size_t k) const { return k + 1 == plan_.edges.size(); }

  /// Length inside the junction between edges k and k + 1.
  [[nodiscard]] double junction_m(std::size_t k) const {
    for (int l = edge(k).first_lane; l < edge(k).first_lane + edge(k).num_lanes; ++l)
      if (const Link* link = road_.link_to(l, plan_.edges[k + 1])) return via_m(*link);
    return 0;
  }
  [[nodiscard]] double via_m(const Link& link) const {
    if (link.via_lane < 0) return 0;
    const Lane& via = at(road_.lanes, link.via_lane);
    return via.length_m + via.exit_m;
  }

  /// Conflict whose stop line is the end of edge k for a vehicle that goes on to edge k + 1.
  [[nodiscard]] int conflict_at_end(std::size_t k) const {
    for (int l = edge(k).first_lane; l < edge(k).first_lane + edge(k).num_lanes; ++l)
      if (leads_into_conflict(k, l)) return at(road_.lane_approach, l).first;
    return -1;
  }
  [[nodiscard]] bool leads_into_conflict(std::size_t k, int lane) const {
    const auto [conflict, approach] = at(road_.lane_approach, lane);
    if (conflict < 0) return false;
    const auto& next = at(at(road_.conflicts, conflict).approaches, approach).next_edges;
    return std::find(next.begin(), next.end(), plan_.edges[k + 1]) != next.end();
  }

  /// Finds the next conflict after edge k.
  void look_ahead(std::size_t k) {
    if (last(k)) return;
    if (const int conflict = conflict_at_end(k); conflict >= 0) {
      plan_.ahead[k] = {conflict, 0};
    } else if (plan_.ahead[k + 1].conflict >= 0) {
      plan_.ahead[k] = {plan_.ahead[k + 1].conflict,
                        junction_m(k) + edge(k + 1).length_m + plan_.ahead[k + 1].to_line_m};
    }
  }

  [[nodiscard]] std::size_t slot(std::size_t k, int index) const {
    return static_cast<std::size_t>(plan_.first_slot[k]) + static_cast<std::size_t>(index);
  }

  /// Lane of edge k nearest to `index` for which `fits` holds; -1 when there is none.
  template <typename Fits>
  [[nodiscard]] int nearest_lane(std::size_t k, int index, Fits fits) const {
    int best = -1;
    for (int l = edge(k).first_lane; l < edge(k).first_lane + edge(k).num_lanes; ++l) {
      const auto distance = [&](int lane) { return std::abs(lane - edge(k).first_lane - index); };
      if (fits(l) && (best < 0 || distance(l) < distance(best))) best = l;
    }
    return best;
  }

  /// Computes the values of lane `index` of edge k.
  void fill_slot(std::size_t k, int index) {
    if (last(k)) return;
    const int lane = edge(k).first_lane + index;
    const int next = plan_.edges[k + 1];
    const auto goes_on = [&](int l) { return road_.link_to(l, next) != nullptr; };
    double& continuation = plan_.continuation_m[slot(k, index)];
    int& changes = plan_.lane_changes[slot(k, index)];
    continuation = edge(k).length_m;
    const int nearest = nearest_lane(k, index, goes_on);
    if (nearest >= 0) changes = nearest - edge(k).first_lane - index;
    bool first = true;
    for (const Link& link : at(road_.lanes, lane).links) {
      const Lane& target = at(road_.lanes, link.to_lane);
      if (target.edge != next) continue;
      const std::size_t beyond = slot(k + 1, target.index);
      continuation = std::max(continuation, std::min(kFarAheadM, edge(k).length_m + via_m(link) +
                                                                     plan_.continuation_m[beyond]));
      const int then = plan_.lane_changes[beyond];
      if (first || std::abs(then) < std::abs(changes)) changes = then;
      first = false;
    }
    if (plan_.ahead[k].conflict < 0) return;
    int& stop = plan_.stop_lane[slot(k, index)];
    if (plan_.ahead[k].to_line_m == 0) {
      stop = nearest_lane(k, index, [&](int l) { return leads_into_conflict(k, l); });
      return;
    }
    if (nearest >= 0) {
      const int to = at(road_.lanes, road_.link_to(nearest, next)->to_lane).index;
      stop = plan_.stop_lane[slot(k + 1, to)];
    }
  }

  void measure() {
    double start = 0;
    for (std::size_t k = 0; k < plan_.edges.size(); ++k) {
      plan_.start_m.push_back(start);
      plan_.length_m += edge(k).length_m;
      start += edge(k).length_m + (last(k) ? 0.0 : junction_m(k));
    }
    plan_.end_m = start;
  }

  const Road& road_;
  RoutePlan& plan_;
};

}  // namespace

int RoutePlan::find(int edge, int from) const {
  for (auto k = static_cast<std::size_t>(from); k < edges.size(); ++k)
    if (edges[k] == edge) return static_cast<int>(k);
  return -1;
}

const RoutePlan& RoutePlans::of(std::span<const int> edges) {
  TRAFFIC_CHECK(!edges.empty(), "the route has no edges");
  const std::string key(reinterpret_cast<const char*>(edges.data()), edges.size_bytes());
  auto& plan = plans_[key];
  if (!plan) {
    plan = std::make_unique<RoutePlan>();
    plan->edges.assign(edges.begin(), edges.end());
    Planner(road_, *plan).run();
  }
  return *plan;
}

}  // namespace traffic::scene
