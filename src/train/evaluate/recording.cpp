#include "evaluate/recording.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "evaluate/replay_tracks.h"

namespace traffic::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kFrameTolerance_s = 1e-6;
constexpr std::size_t kMaxRoutes = 4;
// Limits of the diagram of speed over time (columns) and distance (rows). It has a byte per cell.
constexpr double kMaxColumns = 120;
constexpr double kMaxRows = 60;
constexpr double kMinCellM = 10;  ///< about the length of a vehicle and the gap to the next one
constexpr double kSpeedUnitMps = 0.25;    ///< speed that one unit of the byte stands for
constexpr std::uint8_t kNoVehicle = 255;  ///< byte of a cell without vehicles

double rounded(double value) { return std::round(value * 10.0) / 10.0; }

/// The smallest rectangle around a road, in metres.
struct Rectangle {
  double left = std::numeric_limits<double>::infinity();
  double bottom = std::numeric_limits<double>::infinity();
  double right = -std::numeric_limits<double>::infinity();
  double top = -std::numeric_limits<double>::infinity();
};

Rectangle rectangle_of(const scene::Road& road) {
  Rectangle all;
  for (const scene::Lane& lane : road.lanes) {
    for (const scene::Point& point : lane.shape) {
      all.left = std::min(all.left, point.x);
      all.right = std::max(all.right, point.x);
      all.bottom = std::min(all.bottom, point.y);
      all.top = std::max(all.top, point.y);
    }
  }
  return all;
}

}  // namespace

Recording::Recording(const scene::Road& road) : road_(road) {}

void Recording::add(const scene::RoadState& state) {
  lights_.add(state);
  if (state.time_s() < next_s_ - kFrameTolerance_s) return;
  next_s_ = state.time_s() + frame_s_;
  Frame& frame = frames_.emplace_back(Frame{.time_s = state.time_s(),
                                            .waiting = state.score().waiting,
                                            .arrived = state.score().arrived,
                                            .samples = {}});
  for (const scene::Vehicle& vehicle : state.vehicles()) {
    vehicles_.try_emplace(vehicle.id, Seen{.plan = vehicle.plan, .is_cv = vehicle.is_cv});
    const scene::Point at = road_.point_at(vehicle.lane, vehicle.lane_pos_m);
    frame.samples.push_back(
        {.vehicle = vehicle.id,
         .edge = vehicle.plan->edges[static_cast<std::size_t>(vehicle.route_index)],
         .edge_pos_m = static_cast<float>(vehicle.edge_pos_m),
         .x_m = static_cast<float>(at.x),
         .y_m = static_cast<float>(at.y),
         .speed_mps = static_cast<float>(vehicle.speed_mps),
         .commanded = vehicle.commanded});
  }
  num_samples_ += frame.samples.size();
  if (num_samples_ > kMaxSamples) thin();
}

/// Drops every second frame.
void Recording::thin() {
  num_samples_ = 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < frames_.size(); i += 2, ++kept) {
    if (kept != i) frames_[kept] = std::move(frames_[i]);
    num_samples_ += frames_[kept].samples.size();
  }
  frames_.resize(kept);
  frame_s_ *= 2.0;
  next_s_ = frames_.back().time_s + frame_s_;
}

Json Recording::network() const {
  const Rectangle all = rectangle_of(road_);
  Json lanes = Json::array();
  for (const scene::Lane& lane : road_.lanes) {
    if (!lane.drivable) continue;
    Json line = Json::array();
    for (const scene::Point& point : lane.shape) {
      line.push_back(rounded(point.x));
      line.push_back(rounded(point.y));
    }
    lanes.push_back(
        Json{{"internal", road_.edges[static_cast<std::size_t>(lane.edge)].internal ? 1 : 0},
             {"line", std::move(line)}});
  }
  return Json{{"left", all.left}, {"bottom", all.bottom},      {"right", all.right},
              {"top", all.top},   {"lanes", std::move(lanes)}, {"stop_lines", stop_lines(road_)}};
}

Json Recording::tracks() const {
  const Rectangle all = rectangle_of(road_);
  const double side_m = std::max({all.right - all.left, all.top - all.bottom, 1.0});
  const PackedTracks tracks = pack_tracks(frames_, {all.left, all.bottom, side_m});
  Json list = Json::array();
  for (const TrackHead& track : tracks.heads) {
    list.push_back(
        Json{track.vehicle, vehicles_.at(track.vehicle).is_cv ? 1 : 0, track.first, track.frames});
  }
  return Json{{"frame_s", frame_s_},
              {"frames", frames_.size()},
              {"begin_s", frames_.empty() ? 0.0 : frames_.front().time_s},
              {"side_m", side_m},
              {"vehicles", std::move(list)},
              {"lights", lights_.changes()},
              {"samples", base64(tracks.samples)}};
}

std::vector<const scene::RoutePlan*> Recording::main_routes() const {
  std::map<std::vector<int>, std::pair<std::int64_t, const scene::RoutePlan*>> taken;
  for (const auto& [id, seen] : vehicles_) {
    auto& [vehicles, plan] = taken[seen.plan->edges];
    ++vehicles;
    plan = seen.plan;
  }
  std::vector<std::pair<std::int64_t, const scene::RoutePlan*>> routes;
  for (const auto& [edges, route] : taken) routes.push_back(route);
  std::ranges::stable_sort(routes, [](const auto& a, const auto& b) { return a.first > b.first; });
  routes.resize(std::min(routes.size(), kMaxRoutes));
  std::vector<const scene::RoutePlan*> plans;
  for (const auto& [vehicles, plan] : routes) plans.push_back(plan);
  return plans;
}

/// Mean speed of all vehicles on the route's edges, including vehicles of other routes.
Json Recording::speed_along(const scene::RoutePlan& plan) const {
  std::unordered_map<int, double> start_m;
  for (std::size_t e = 0; e < plan.edges.size(); ++e)
    start_m.emplace(plan.edges[e], plan.start_m[e]);
  const double begin_s = frames_.front().time_s;
  const double seconds = frames_.back().time_s - begin_s + frame_s_;
  const double cell_s = frame_s_ * std::ceil(seconds / frame_s_ / kMaxColumns);
  const double cell_m = std::max(kMinCellM, std::ceil(plan.end_m / kMaxRows));
  const auto columns = static_cast<std::size_t>(std::ceil(seconds / cell_s - kFrameTolerance_s));
  const auto rows = static_cast<std::size_t>(std::max(1.0, std::ceil(plan.end_m / cell_m)));
  std::vector<double> sum(columns * rows);
  std::vector<int> count(columns * rows);
  for (const Frame& frame : frames_) {
    const auto column = static_cast<std::size_t>((frame.time_s - begin_s) / cell_s);
    for (const Sample& sample : frame.samples) {
      const auto edge = start_m.find(sample.edge);
      if (edge == start_m.end()) continue;
      const double at_m = std::max(0.0, edge->second + static_cast<double>(sample.edge_pos_m));
      const auto row = std::min(rows - 1, static_cast<std::size_t>(at_m / cell_m));
      const std::size_t cell = std::min(column, columns - 1) * rows + row;
      sum[cell] += static_cast<double>(sample.speed_mps);
      ++count[cell];
    }
  }
  std::vector<std::uint8_t> cells(columns * rows, kNoVehicle);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (count[c] == 0) continue;
    const long units = std::lround(sum[c] / count[c] / kSpeedUnitMps);
    cells[c] = static_cast<std::uint8_t>(std::min(units, static_cast<long>(kNoVehicle) - 1));
  }
  const auto name = [&](int edge) { return road_.edges[static_cast<std::size_t>(edge)].id; };
  return Json{{"from", name(plan.edges.front())},
              {"to", name(plan.edges.back())},
              {"begin_s", begin_s},
              {"cell_s", cell_s},
              {"cell_m", cell_m},
              {"columns", columns},
              {"rows", rows},
              {"unit_mps", kSpeedUnitMps},
              {"speed", base64(cells)}};
}

Json Recording::figures() const {
  Json time_s = Json::array();
  Json slow = Json::array();
  Json waiting = Json::array();
  Json arrived = Json::array();
  const auto every = static_cast<std::size_t>(std::max(1.0, 5.0 / frame_s_));
  for (std::size_t f = 0; f < frames_.size(); f += every) {
    const Frame& frame = frames_[f];
    time_s.push_back(frame.time_s);
    slow.push_back(std::ranges::count_if(frame.samples, [](const Sample& sample) {
      return static_cast<double>(sample.speed_mps) < scene::kQueueSpeedMps;
    }));
    waiting.push_back(frame.waiting);
    arrived.push_back(frame.arrived);
  }
  Json routes = Json::array();
  if (!frames_.empty()) {
    for (const scene::RoutePlan* plan : main_routes()) routes.push_back(speed_along(*plan));
  }
  return Json{{"time_s", std::move(time_s)},
              {"slow", std::move(slow)},
              {"waiting", std::move(waiting)},
              {"arrived", std::move(arrived)},
              {"routes", std::move(routes)}};
}

}  // namespace traffic::train
