// Finds the lanes and the routes of recorded vehicles on a road network (frame_maker.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "frame_maker.h"
#include "tracker.h"

namespace traffic::data_prep {
namespace {

/// Maximum number of edges that a vehicle can pass between two frames.
constexpr int kMaxHops = 12;

/// The way with the fewest edges from edge `from` to edge `to`, without `from`. nullopt if it has
/// more than kMaxHops edges.
std::optional<std::vector<int>> way_between(const scene::Road& road, int from, int to) {
  std::vector<std::pair<int, int>> reached{{from, -1}};  // edge, index of its predecessor
  std::size_t begin = 0;
  for (int hop = 0; hop < kMaxHops; ++hop) {
    const std::size_t end = reached.size();
    for (std::size_t i = begin; i < end; ++i) {
      const scene::Edge& edge = road.edges[static_cast<std::size_t>(reached[i].first)];
      for (int l = edge.first_lane; l < edge.first_lane + edge.num_lanes; ++l) {
        for (const scene::Link& link : road.lanes[static_cast<std::size_t>(l)].links) {
          const int next = road.lanes[static_cast<std::size_t>(link.to_lane)].edge;
          const auto is_next = [&](const auto& item) { return item.first == next; };
          if (std::any_of(reached.begin() + 1, reached.end(), is_next)) continue;
          reached.emplace_back(next, static_cast<int>(i));
          if (next != to) continue;
          std::vector<int> way;
          for (int at = static_cast<int>(reached.size()) - 1; at > 0;
               at = reached[static_cast<std::size_t>(at)].second) {
            way.push_back(reached[static_cast<std::size_t>(at)].first);
          }
          std::reverse(way.begin(), way.end());
          return way;
        }
      }
    }
    begin = end;
  }
  return std::nullopt;
}

/// Collects the edges on which each vehicle drives, while walk() reads the recording.
class RouteSurvey final : public Visitor {
 public:
  RouteSurvey(const scene::Road& road, const std::function<void(std::size_t)>& progress)
      : road_(road), progress_(progress) {}

  void begin_stretch(double) override { end_stretch(); }

  void visit(const RecordedFrame& frame, double) override {
    tracker_.begin_frame();
    for (const RecordedVehicle& v : frame.vehicles) {
      const std::optional<int> lane = lane_of(frame, v, road_);
      if (!lane) continue;
      if (auto* entry = tracker_.see(frame.view(v.name))) drive(*entry, route_edge(road_, *lane));
    }
    tracker_.end_frame([&](auto& entry) { note(entry, true); });
    progress_(frame.vehicles.size());
  }

  Routes finish() {
    end_stretch();
    for (const auto& [vehicle, kind] : cut_off_) {
      routes_.of_vehicle[vehicle] = continued(kind);
    }
    return std::move(routes_);
  }

 private:
  using Entry = Tracker<std::vector<int>>::Entry;

  void drive(Entry& entry, int edge) {
    std::vector<int>& way = entry.state;
    if (way.empty() || way.back() == edge) {
      if (way.empty()) way.push_back(edge);
      return;
    }
    if (const auto between = way_between(road_, way.back(), edge)) {
      way.insert(way.end(), between->begin(), between->end());
      return;
    }
    note(entry, false);  // the vehicle jumped; from here on it counts as a new vehicle
    tracker_.renew(entry);
    entry.state.push_back(edge);
  }

  void note(const Entry& entry, bool complete) {
    const auto [found, is_new] =
        kind_of_.emplace(entry.state, static_cast<std::uint32_t>(routes_.kinds.size()));
    if (is_new) {
      routes_.kinds.push_back(entry.state);
      times_.push_back(0);
    }
    if (routes_.of_vehicle.size() <= entry.id) routes_.of_vehicle.resize(entry.id + 1);
    routes_.of_vehicle[entry.id] = found->second;
    if (complete) ++times_[found->second];
  }

  void end_stretch() {
    tracker_.clear([&](auto& entry) {
      note(entry, false);
      cut_off_.emplace_back(entry.id, routes_.of_vehicle[entry.id]);
    });
  }

  /// Returns the most frequent complete route that contains the given route.
  std::uint32_t continued(std::uint32_t kind) {
    const std::vector<int>& part = routes_.kinds[kind];
    std::uint32_t best = kind;
    std::int64_t most = 0;
    for (std::uint32_t k = 0; k < routes_.kinds.size(); ++k) {
      const std::vector<int>& whole = routes_.kinds[k];
      if (times_[k] <= most ||
          std::search(whole.begin(), whole.end(), part.begin(), part.end()) == whole.end()) {
        continue;
      }
      most = times_[k];
      best = k;
    }
    return best;
  }

  const scene::Road& road_;
  const std::function<void(std::size_t)>& progress_;
  Tracker<std::vector<int>> tracker_;
  Routes routes_;
  std::map<std::vector<int>, std::uint32_t> kind_of_;
  std::vector<std::int64_t> times_;  ///< [kinds] number of vehicles that drove the route to its end
  /// Vehicles whose routes are incomplete, with the index of their route in kinds.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> cut_off_;
};

}  // namespace

int route_edge(const scene::Road& road, int lane) {
  const scene::Lane& on = road.lanes[static_cast<std::size_t>(lane)];
  return on.exit_lane >= 0 ? road.lanes[static_cast<std::size_t>(on.exit_lane)].edge : on.edge;
}

std::optional<int> lane_of(const RecordedFrame& frame, const RecordedVehicle& vehicle,
                           const scene::Road& road) {
  const auto lane = road.lane_index.find(std::string(frame.view(vehicle.lane)));
  if (lane == road.lane_index.end() || std::isnan(vehicle.lane_pos_m)) return std::nullopt;
  return lane->second;
}

std::optional<int> lane_or_problem(const RecordedFrame& frame, const RecordedVehicle& vehicle,
                                   const scene::Road& road, const std::string& file,
                                   InputProblems& problems) {
  const std::optional<int> lane = lane_of(frame, vehicle, road);
  if (lane) return lane;
  const std::string_view name = frame.view(vehicle.name);
  const std::string lane_id(frame.view(vehicle.lane));
  problems.report(file, vehicle.line,
                  road.lane_index.contains(lane_id)
                      ? fmt::format("vehicle '{}' has no position on its lane '{}'", name, lane_id)
                      : fmt::format("vehicle '{}' is on lane '{}', which is not in the --network",
                                    name, lane_id));
  return std::nullopt;
}

Routes survey_routes(Recording& recording, const std::string& file, const scene::Road& road,
                     const std::function<void(std::size_t vehicles)>& progress) {
  // Problems are only counted here. They are reported when the caller reads the recording again to
  // convert its frames.
  InputProblems passed_over(true);
  RouteSurvey survey(road, progress);
  walk(recording, file, Places::kLanes, passed_over, survey);
  return survey.finish();
}

}  // namespace traffic::data_prep
