// Finds the zone and the downstream road of a conflict, and the light upstream that releases the
// vehicles of an approach.
#include "conflict_extent.h"

#include <algorithm>
#include <set>

#include "index.h"

namespace traffic::scene {
namespace {

constexpr double kDownstreamM = 500.0;    // length of the downstream road
constexpr double kReleaseReachM = 300.0;  // a light further upstream hardly affects arrivals

/// Links of lanes outside junctions that lead onto an edge.
std::vector<Link> links_into(const Road& road, int edge) {
  std::vector<Link> links;
  const Edge& e = at(road.edges, edge);
  std::vector<int> lanes;
  for (int l = e.first_lane; l < e.first_lane + e.num_lanes; ++l) {
    lanes = at(road.lanes, l).from_lanes;
    while (!lanes.empty()) {
      const int from = lanes.back();
      lanes.pop_back();
      const auto& before = at(road.lanes, from);
      if (before.exit_lane >= 0) {  // inside a junction: continue with the lanes that lead there
        lanes.insert(lanes.end(), before.from_lanes.begin(), before.from_lanes.end());
        continue;
      }
      // A lane inside a junction may lead to another edge.
      const Link* link = road.link_to(from, edge);
      if (link != nullptr && link->direction != 't') links.push_back(*link);
    }
  }
  return links;
}

/// The edge from which all vehicles come onto an edge; -1 if there are several or none.
int edge_before(const Road& road, int edge) {
  int found = -1;
  const Edge& e = at(road.edges, edge);
  for (int l = e.first_lane; l < e.first_lane + e.num_lanes; ++l)
    for (int from : at(road.lanes, l).from_lanes) {
      while (at(road.lanes, from).exit_lane >= 0 && !at(road.lanes, from).from_lanes.empty())
        from = at(road.lanes, from).from_lanes.front();
      if (found >= 0 && at(road.lanes, from).edge != found) return -1;
      found = at(road.lanes, from).edge;
    }
  return found;
}

}  // namespace

std::vector<int> next_edges(const Road& road, int edge) {
  std::vector<int> edges;
  const Edge& e = at(road.edges, edge);
  for (int i = e.first_lane; i < e.first_lane + e.num_lanes; ++i)
    for (const Link& link : at(road.lanes, i).links) {
      const int next = at(road.lanes, link.to_lane).edge;
      if (link.direction != 't' && std::find(edges.begin(), edges.end(), next) == edges.end())
        edges.push_back(next);
    }
  return edges;
}

void spread_conflict(const Road& road, Conflict& conflict, const std::vector<int>& exits,
                     double zone_m) {
  struct Item {
    int edge;
    double travelled_m;
  };
  std::set<int> seen;
  for (const auto& a : conflict.approaches) seen.insert(a.edge);
  std::vector<Item> queue;
  for (const int e : exits)
    if (seen.insert(e).second) queue.push_back({e, 0});
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Item item = queue[i];
    const double length = at(road.edges, item.edge).length_m;
    const double split = std::clamp(zone_m - item.travelled_m, 0.0, length);
    const double end = std::min(length, zone_m + kDownstreamM - item.travelled_m);
    if (split > 0) conflict.zone.push_back({item.edge, 0, split});
    if (end > split) conflict.downstream.push_back({item.edge, split, end});
    if (item.travelled_m + length >= zone_m + kDownstreamM) continue;
    for (const int e : next_edges(road, item.edge))
      if (seen.insert(e).second) queue.push_back({e, item.travelled_m + length});
  }
}

double lane_km(const Road& road, const std::vector<Stretch>& stretches) {
  double km = 0;
  for (const auto& s : stretches) {
    const Edge& e = at(road.edges, s.edge);
    for (int i = e.first_lane; i < e.first_lane + e.num_lanes; ++i)
      if (at(road.lanes, i).drivable) km += (s.to_m - s.from_m) / 1000.0;
  }
  return km;
}

void add_release_light(const Road& road, Approach& approach) {
  int edge = approach.edge;
  double distance = 0;
  while (edge >= 0 && approach.light < 0) {
    distance += at(road.edges, edge).length_m;
    if (distance > kReleaseReachM) return;
    const auto links = links_into(road, edge);
    const auto is_lit = [&](const Link& l) {
      return l.light >= 0 && l.light == links.front().light;
    };
    if (!links.empty() && std::all_of(links.begin(), links.end(), is_lit)) {
      approach.light = links.front().light;
      for (const Link& link : links) approach.light_links.push_back(link.light_link);
      return;
    }
    edge = edge_before(road, edge);
  }
}

void index_stretches(Road& road) {
  road.stretches.assign(road.edges.size(), {});
  for (int c = 0; c < static_cast<int>(road.conflicts.size()); ++c) {
    const Conflict& conflict = at(road.conflicts, c);
    for (const auto& s : conflict.zone)
      at(road.stretches, s.edge).push_back({c, true, s.from_m, s.to_m});
    for (const auto& s : conflict.downstream)
      at(road.stretches, s.edge).push_back({c, false, s.from_m, s.to_m});
  }
}

}  // namespace traffic::scene
