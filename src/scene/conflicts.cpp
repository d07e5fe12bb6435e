// Finds the conflicts of a road. A lane belongs to the first conflict that is found for it. There
// are four kinds of conflicts, found in this order:
// 1. An edge on which a lane ends that is fed by a separate stream, such as an on-ramp with an
//    acceleration lane. The stop lines lie where the streams come together; the edge is the zone.
// 2. A junction at which links of different edges meet (are foes, as SUMO calls it): merges,
//    crossings, roundabouts, lights.
// 3. A weaving section: an edge that streams enter side by side and leave for different edges, so
//    that their vehicles have to cross each other's lanes. The stream with fewer lanes is minor.
// 4. A lane drop: a lane ends where no stream joined. Its vehicles merge into the other lanes.
#include <algorithm>
#include <optional>

#include "conflict_extent.h"
#include "index.h"
#include "net_file.h"

namespace traffic::scene {
namespace {

constexpr double kMaxMergeZoneM = 600.0;  // maximum length of acceleration lanes, weaving edges
constexpr double kZoneM = 150.0;          // length of the zone after a junction or a lane drop

/// A link and the lane that it leaves.
struct Movement {
  int lane = -1;
  const Link* link = nullptr;
};

bool contains(const std::vector<int>& items, int item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

void insert_once(std::vector<int>& items, int item) {
  if (!contains(items, item)) items.push_back(item);
}

class ConflictFinder {
 public:
  ConflictFinder(Road& road, const std::vector<NetJunction>& junctions)
      : road_(road), junctions_(junctions), into_(road.edges.size()) {
    road_.lane_approach.assign(road_.lanes.size(), {-1, -1});
    for (int i = 0; i < num_lanes(); ++i)
      for (const Link& link : lane(i).links)
        if (!internal(i) && link.direction != 't')
          at(into_, lane(link.to_lane).edge).push_back({i, &link});
  }

  void run() {
    std::vector<std::pair<int, std::vector<int>>> drops;
    for (int e = 0; e < static_cast<int>(road_.edges.size()); ++e) {
      const auto ending = ending_lanes(e);
      if (ending.empty()) continue;
      if (auto conflict = merge_before(e, ending))
        take(std::move(*conflict));
      else
        drops.emplace_back(e, ending);
    }
    for (const auto& junction : junctions_)
      if (auto conflict = junction_conflict(junction)) take(std::move(*conflict));
    for (int e = 0; e < static_cast<int>(road_.edges.size()); ++e)
      if (auto conflict = weaving_on(e)) take(std::move(*conflict));
    for (const auto& [edge, ending] : drops) take(lane_drop(edge, ending));
    index_stretches(road_);
  }

 private:
  [[nodiscard]] int num_lanes() const { return static_cast<int>(road_.lanes.size()); }
  [[nodiscard]] const Lane& lane(int i) const { return at(road_.lanes, i); }
  [[nodiscard]] const Edge& edge(int i) const { return at(road_.edges, i); }
  [[nodiscard]] bool internal(int lane_index) const { return edge(lane(lane_index).edge).internal; }

  [[nodiscard]] bool goes_on(int lane_index) const {
    const auto& links = lane(lane_index).links;
    return std::any_of(links.begin(), links.end(),
                       [](const Link& l) { return l.direction != 't'; });
  }

  /// Lanes of an edge that lead nowhere, provided that other lanes of the edge do lead on.
  [[nodiscard]] std::vector<int> ending_lanes(int e) const {
    std::vector<int> ending;
    bool others_go_on = false;
    for (int i = edge(e).first_lane; i < edge(e).first_lane + edge(e).num_lanes; ++i) {
      if (!lane(i).drivable) continue;
      if (goes_on(i))
        others_go_on = true;
      else
        ending.push_back(i);
    }
    return others_go_on && !edge(e).internal ? ending : std::vector<int>{};
  }

  /// Follows ending lanes upstream to the point where a separate stream feeds them. Returns the
  /// conflict there; nothing if there is no such point within kMaxMergeZoneM.
  std::optional<Conflict> merge_before(int last, std::vector<int> ending) {
    std::vector<int> chain{last};
    double length = edge(last).length_m;
    while (length <= kMaxMergeZoneM) {
      const auto& feeders = at(into_, chain.back());
      std::vector<int> edges;
      for (const auto& movement : feeders) insert_once(edges, lane(movement.lane).edge);
      if (edges.empty()) return std::nullopt;
      if (edges.size() > 1) return merge_of(chain, edges, ending);
      std::vector<int> before;
      for (const auto& movement : feeders)
        if (contains(ending, movement.link->to_lane)) insert_once(before, movement.lane);
      if (before.empty() || contains(chain, edges.front())) return std::nullopt;
      ending = before;
      chain.push_back(edges.front());
      length += edge(edges.front()).length_m;
    }
    return std::nullopt;
  }

  /// The conflict at which streams from several edges come together before some of their lanes end.
  /// @param chain edges of the zone, the last one first
  /// @param edges edges that feed the first edge of the zone
  std::optional<Conflict> merge_of(const std::vector<int>& chain, const std::vector<int>& edges,
                                   const std::vector<int>& ending) {
    Conflict conflict;
    conflict.id = edge(chain.back()).id;
    for (const int e : edges) {
      Approach approach{.edge = e, .minor = true, .major = true};
      for (const auto& movement : at(into_, chain.back()))
        if (lane(movement.lane).edge == e) {
          add_movement(approach, movement);
          (contains(ending, movement.link->to_lane) ? approach.major : approach.minor) = false;
        }
      conflict.approaches.push_back(std::move(approach));
    }
    const auto is_minor = [](const Approach& a) { return a.minor; };
    const auto minors =
        std::count_if(conflict.approaches.begin(), conflict.approaches.end(), is_minor);
    if (minors == 0 || minors == static_cast<std::ptrdiff_t>(edges.size())) return std::nullopt;
    for (auto& a : conflict.approaches)
      for (int b = 0; b < static_cast<int>(edges.size()); ++b)
        if (at(conflict.approaches, b).edge != a.edge &&
            !(a.major && at(conflict.approaches, b).major))
          a.conflicting.push_back(b);
    for (const int e : chain) conflict.zone.push_back({e, 0, edge(e).length_m});
    spread_conflict(road_, conflict, next_edges(road_, chain.front()), 0.0);
    return conflict;
  }

  std::optional<Conflict> junction_conflict(const NetJunction& junction) {
    std::vector<Movement> movements;
    for (const int l : junction.incoming_lanes)
      for (const Link& link : lane(l).links) movements.push_back({l, &link});
    const std::size_t n = std::min(movements.size(), junction.foes.size());
    // Whether link i meets link j (if `bits` are junction.foes) or yields to it (if they are
    // junction.response). Links of the same edge and links that turn round do not count.
    const auto bit = [&](const std::vector<std::string>& bits, std::size_t i, std::size_t j) {
      const std::string& row = bits[i];
      return j < row.size() && row[row.size() - 1 - j] == '1' &&
             lane(movements[i].lane).edge != lane(movements[j].lane).edge &&
             movements[i].link->direction != 't' && movements[j].link->direction != 't';
    };
    Conflict conflict;
    conflict.id = junction.id;
    std::vector<int> approach_of(n, -1);
    for (std::size_t i = 0; i < n; ++i) {
      bool meets = false;
      bool yields = false;
      for (std::size_t j = 0; j < n; ++j) {
        // A damaged file may list the pair for one of the two links only.
        meets |= bit(junction.foes, i, j) || bit(junction.foes, j, i);
        yields |= bit(junction.response, i, j);
      }
      if (!meets) continue;
      if (road_.lane_approach[static_cast<std::size_t>(movements[i].lane)].first >= 0)
        return std::nullopt;
      approach_of[i] = approach_for(conflict, lane(movements[i].lane).edge);
      auto& approach = at(conflict.approaches, approach_of[i]);
      add_movement(approach, movements[i]);
      (yields ? approach.major : approach.minor) = false;
    }
    if (conflict.approaches.size() < 2) return std::nullopt;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (bit(junction.foes, i, j))
          insert_once(at(conflict.approaches, approach_of[i]).conflicting, approach_of[j]);
    std::vector<int> exits;
    for (auto& a : conflict.approaches) {
      add_parallel_lanes(a);
      for (const int e : a.next_edges) insert_once(exits, e);
    }
    spread_conflict(road_, conflict, exits, kZoneM);
    return conflict;
  }

  /// Edges to which these lanes lead.
  [[nodiscard]] std::vector<int> reached_from(const std::vector<int>& lanes) const {
    std::vector<int> edges;
    for (const int l : lanes)
      for (const Link& link : lane(l).links)
        if (link.direction != 't') insert_once(edges, lane(link.to_lane).edge);
    return edges;
  }

  /// The conflict of a weaving section; nothing if no streams cross each other on the edge.
  std::optional<Conflict> weaving_on(int e) {
    if (edge(e).internal || edge(e).length_m > kMaxMergeZoneM) return std::nullopt;
    Conflict conflict;
    conflict.id = edge(e).id;
    // [approaches] edges that a vehicle can reach without changing lanes
    std::vector<std::vector<int>> reached;
    for (const auto& movement : at(into_, e)) {
      const int from = lane(movement.lane).edge;
      add_movement(at(conflict.approaches, approach_for(conflict, from)), movement);
    }
    for (auto& a : conflict.approaches) {
      std::vector<int> entered;
      for (const auto& movement : at(into_, e))
        if (lane(movement.lane).edge == a.edge) entered.push_back(movement.link->to_lane);
      reached.push_back(reached_from(entered));
    }
    const auto crosses = [&](std::size_t a, std::size_t b) {
      return std::ranges::any_of(reached[a], [&](int to) { return !contains(reached[b], to); });
    };
    std::size_t most = 0;
    for (std::size_t a = 0; a < conflict.approaches.size(); ++a) {
      most = std::max(most, conflict.approaches[a].lanes.size());
      for (std::size_t b = 0; b < conflict.approaches.size(); ++b)
        if (crosses(a, b) && crosses(b, a))
          conflict.approaches[a].conflicting.push_back(static_cast<int>(b));
    }
    if (std::ranges::all_of(conflict.approaches,
                            [](const Approach& a) { return a.conflicting.empty(); }))
      return std::nullopt;
    for (auto& a : conflict.approaches) a.minor = !(a.major = a.lanes.size() == most);
    conflict.zone.push_back({e, 0, edge(e).length_m});
    spread_conflict(road_, conflict, next_edges(road_, e), 0.0);
    return conflict;
  }

  Conflict lane_drop(int e, const std::vector<int>& ending) {
    Conflict conflict;
    conflict.id = "end of " + edge(e).id;
    Approach minor{.edge = e, .conflicting = {1}, .minor = true};
    minor.lanes = ending;
    Approach major{.edge = e, .conflicting = {0}, .major = true};
    for (int i = edge(e).first_lane; i < edge(e).first_lane + edge(e).num_lanes; ++i)
      for (const Link& link : lane(i).links)
        if (link.direction != 't') add_movement(major, {i, &link});
    minor.next_edges = major.next_edges;
    const auto exits = major.next_edges;
    conflict.approaches = {std::move(minor), std::move(major)};
    spread_conflict(road_, conflict, exits, kZoneM);
    return conflict;
  }

  static int approach_for(Conflict& conflict, int e) {
    for (std::size_t a = 0; a < conflict.approaches.size(); ++a)
      if (conflict.approaches[a].edge == e) return static_cast<int>(a);
    conflict.approaches.push_back({.edge = e, .minor = true, .major = true});
    return static_cast<int>(conflict.approaches.size()) - 1;
  }

  void add_movement(Approach& approach, const Movement& movement) const {
    insert_once(approach.lanes, movement.lane);
    insert_once(approach.next_edges, lane(movement.link->to_lane).edge);
    if (movement.link->light < 0) return;
    approach.light = movement.link->light;
    insert_once(approach.light_links, movement.link->light_link);
  }

  /// Adds the other lanes of the edge that lead to the same edges. The conflict affects them too,
  /// because vehicles change lanes.
  void add_parallel_lanes(Approach& approach) const {
    std::vector<int> lanes;
    const Edge& from = edge(approach.edge);
    for (int i = from.first_lane; i < from.first_lane + from.num_lanes; ++i)
      for (const Link& link : lane(i).links)
        if (link.direction != 't' && contains(approach.next_edges, lane(link.to_lane).edge))
          insert_once(lanes, i);
    approach.lanes = std::move(lanes);
  }

  /// Adds a conflict to the road. If an earlier conflict contains one of its lanes, does nothing.
  void take(Conflict conflict) {
    for (const auto& a : conflict.approaches)
      for (const int l : a.lanes)
        if (at(road_.lane_approach, l).first >= 0) return;
    for (auto& a : conflict.approaches) add_release_light(road_, a);
    const int c = static_cast<int>(road_.conflicts.size());
    for (int a = 0; a < static_cast<int>(conflict.approaches.size()); ++a)
      for (const int l : at(conflict.approaches, a).lanes) at(road_.lane_approach, l) = {c, a};
    conflict.zone_lane_km = lane_km(road_, conflict.zone);
    conflict.downstream_lane_km = lane_km(road_, conflict.downstream);
    road_.conflicts.push_back(std::move(conflict));
  }

  Road& road_;
  const std::vector<NetJunction>& junctions_;
  std::vector<std::vector<Movement>> into_;  // [edges] links onto it from lanes outside junctions
};

}  // namespace

void find_conflicts(Road& road, const std::vector<NetJunction>& junctions) {
  ConflictFinder(road, junctions).run();
}

}  // namespace traffic::scene
