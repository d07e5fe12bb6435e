// Turns recorded vehicles into scenes, from which driving policies learn (scene_maker.h).
#include "scene_maker.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/driving/geometry.h"

namespace traffic::data_prep {
namespace {

/// SUMO's letter for a light that is switched off. All lights get it, because recordings do not
/// contain the states of lights.
constexpr std::uint8_t kUnknownSignal = 'O';
/// Times of frames that differ by less than this are treated as equal.
constexpr double kTimeTolerance_s = 1e-3;

/// For each of the names name(0), ..., name(count - 1), its index in `names`; -1 if `names` does
/// not contain it.
std::vector<std::int32_t> indices_in(const std::vector<std::string>& names, std::size_t count,
                                     const std::function<const std::string&(std::size_t)>& name) {
  std::unordered_map<std::string, std::int32_t> numbers;
  for (const auto& known : names) {
    numbers.emplace(known, static_cast<std::int32_t>(numbers.size()));
  }
  std::vector<std::int32_t> indices(count, -1);
  for (std::size_t i = 0; i < count; ++i) {
    if (const auto found = numbers.find(name(i)); found != numbers.end())
      indices[i] = found->second;
  }
  return indices;
}

/// Interpolates between two poses. A share of 0 gives `a`, and 1 gives `b`.
driving::Pose between(const driving::Pose& a, const driving::Pose& b, double share) {
  return {a.x_m + share * (b.x_m - a.x_m), a.y_m + share * (b.y_m - a.y_m),
          driving::wrapped_rad(a.heading_rad +
                               share * driving::wrapped_rad(b.heading_rad - a.heading_rad))};
}

}  // namespace

SceneMaker::SceneMaker(std::shared_ptr<const scene::Road> road,
                       std::shared_ptr<const driving::RoadMap> map, Routes routes,
                       const SceneMakerOptions& options, std::string file, InputProblems& problems,
                       SceneSink sink)
    : road_(std::move(road)),
      map_(std::move(map)),
      routes_(std::move(routes)),
      options_(options),
      file_(std::move(file)),
      problems_(problems),
      sink_(std::move(sink)) {
  lane_in_map_ =
      indices_in(map_->lanes, road_->lanes.size(),
                 [&](std::size_t i) -> const std::string& { return road_->lanes[i].id; });
  edge_in_map_ =
      indices_in(map_->edges, road_->edges.size(),
                 [&](std::size_t i) -> const std::string& { return road_->edges[i].id; });
}

void SceneMaker::begin_stretch(double step_s) {
  if (step_s > driving::kFrame_s + kTimeTolerance_s) {
    throw DataError(
        "{}: its times are {:.6g} s apart, but scenes need positions at least every {} s; record "
        "more often (SUMO: --step-length, --device.fcd.period)",
        file_, step_s, driving::kFrame_s);
  }
  finish();
  tracker_.clear([](auto&) {});
  present_.clear();
  stretch_is_new_ = true;
}

void SceneMaker::visit(const RecordedFrame& frame, double time_s) {
  for (Entry* entry : present_) entry->state.before = entry->state.now;
  present_.clear();
  tracker_.begin_frame();
  for (const RecordedVehicle& vehicle : frame.vehicles) take(frame, vehicle);
  tracker_.end_frame([](auto&) {});
  if (stretch_is_new_) next_frame_s_ = time_s;
  while (next_frame_s_ <= time_s + kTimeTolerance_s) {
    const double step_s = time_s - last_time_s_;
    const double share =
        stretch_is_new_ ? 1.0 : std::clamp(1.0 - (time_s - next_frame_s_) / step_s, 0.0, 1.0);
    add_frame(next_frame_s_ > time_s - kTimeTolerance_s ? 1.0 : share);
    next_frame_s_ += driving::kFrame_s;
  }
  last_time_s_ = time_s;
  stretch_is_new_ = false;
}

void SceneMaker::take(const RecordedFrame& frame, const RecordedVehicle& from) {
  const std::string_view name = frame.view(from.name);
  const std::optional<int> lane = lane_or_problem(frame, from, *road_, file_, problems_);
  if (!lane) return;
  Entry* entry = tracker_.see(name);
  TRAFFIC_CHECK(entry != nullptr, "vehicle '{}' is twice in a frame", name);
  follow_route(frame, from, *lane, *entry);
  State& state = entry->state;
  if (entry->fresh) {
    state.type = frame.view(from.type);
    state.length_m = std::isnan(from.length_m) ? options_.vehicle_length_m : from.length_m;
  }
  if (from.jumped) {  // it becomes a new vehicle: a policy must not learn from the jump
    state.before = {};
    vehicle_of_.erase(entry->id);
  }
  if (!read_sample(frame, from, *lane, state.length_m, state.now)) state.now = {};
  present_.push_back(entry);
}

void SceneMaker::follow_route(const RecordedFrame& frame, const RecordedVehicle& from, int lane,
                              Entry& entry) {
  const int edge = route_edge(*road_, lane);
  const auto place = [&]() -> int {
    if (entry.id >= routes_.of_vehicle.size()) {
      throw DataError(
          "{}:{}: vehicle '{}' was not in the file when the routes were read; the file must not "
          "change during the conversion",
          file_, from.line, frame.view(from.name));
    }
    const auto& route = routes_.kinds[routes_.of_vehicle[entry.id]];
    const auto found = std::find(route.begin() + entry.state.route_index, route.end(), edge);
    return found == route.end() ? -1 : static_cast<int>(found - route.begin());
  };
  int index = place();
  if (index < 0) {  // the vehicle jumped; from here on it counts as a new vehicle
    tracker_.renew(entry);
    index = place();
  }
  entry.state.route_index = std::max(index, 0);
}

bool SceneMaker::read_sample(const RecordedFrame& frame, const RecordedVehicle& from, int lane,
                             double length_m, Sample& sample) {
  if (std::isnan(from.heading_x)) {
    problems_.report(file_, from.line,
                     fmt::format("vehicle '{}' has no angle, which scenes need; SUMO writes it "
                                 "unless --fcd-output.attributes leaves it out",
                                 frame.view(from.name)));
    return false;
  }
  double x_m = from.x_m;
  double y_m = from.y_m;
  if (std::isnan(x_m) || std::isnan(y_m)) {
    const scene::Point front = road_->point_at(lane, from.lane_pos_m);
    x_m = front.x;
    y_m = front.y;
  }
  sample = {.pose = {.x_m = x_m - 0.5 * length_m * from.heading_x,
                     .y_m = y_m - 0.5 * length_m * from.heading_y,
                     .heading_rad = std::atan2(from.heading_y, from.heading_x)},
            .speed_mps = from.speed_mps,
            .lane = lane_in_map_[static_cast<std::size_t>(lane)],
            .valid = true};
  return true;
}

void SceneMaker::add_frame(double share) {
  if (scene_.node_begin.empty()) {
    scene_.map = map_;
    scene_.node_begin.push_back(0);
    scene_.route_begin.push_back(0);
  }
  const auto first = static_cast<std::ptrdiff_t>(scene_.nodes.size());
  for (Entry* entry : present_) add_node(*entry, share);
  std::sort(scene_.nodes.begin() + first, scene_.nodes.end(),
            [](const auto& a, const auto& b) { return a.vehicle < b.vehicle; });
  scene_.node_begin.push_back(static_cast<std::int64_t>(scene_.nodes.size()));
  scene_.time_s.push_back(static_cast<double>(scene_.time_s.size()) * driving::kFrame_s);
  scene_.signals.insert(scene_.signals.end(), map_->signals.size(), kUnknownSignal);
  const double length_s = static_cast<double>(scene_.num_frames()) * driving::kFrame_s;
  if (options_.episode_s > 0 && length_s >= options_.episode_s - kTimeTolerance_s) finish();
}

/// Adds a vehicle to the frame of the scene. Does nothing if the vehicle was not recorded yet at
/// the time of the frame.
void SceneMaker::add_node(Entry& entry, double share) {
  const State& state = entry.state;
  if (!state.now.valid || (share < 1.0 && !state.before.valid)) return;
  const Sample& nearer = share < 0.5 ? state.before : state.now;
  const driving::Pose pose =
      share < 1.0 ? between(state.before.pose, state.now.pose, share) : state.now.pose;
  const double speed_mps =
      share < 1.0 ? state.before.speed_mps + share * (state.now.speed_mps - state.before.speed_mps)
                  : state.now.speed_mps;
  scene_.nodes.push_back({.vehicle = vehicle_in_scene(entry),
                          .x_m = static_cast<float>(pose.x_m),
                          .y_m = static_cast<float>(pose.y_m),
                          .heading_rad = static_cast<float>(pose.heading_rad),
                          .speed_mps = static_cast<float>(speed_mps),
                          .lane = nearer.lane,
                          .route = route_in_scene(entry)});
}

std::int32_t SceneMaker::vehicle_in_scene(const Entry& entry) {
  const auto [found, is_new] =
      vehicle_of_.try_emplace(entry.id, static_cast<std::int32_t>(scene_.vehicles.size()));
  if (is_new) {
    scene_.vehicles.push_back({.type = entry.state.type,
                               .length_m = static_cast<float>(entry.state.length_m),
                               .width_m = static_cast<float>(options_.vehicle_width_m)});
  }
  return found->second;
}

std::int32_t SceneMaker::route_in_scene(const Entry& entry) {
  const std::uint32_t kind = routes_.of_vehicle[entry.id];
  const auto [found, is_new] =
      route_of_.try_emplace(kind, static_cast<std::int32_t>(scene_.route_begin.size() - 1));
  if (is_new) {
    for (const int edge : routes_.kinds[kind]) {
      const std::int32_t number = edge_in_map_[static_cast<std::size_t>(edge)];
      if (number >= 0) scene_.route_edges.push_back(number);  // skips edges closed to cars
    }
    scene_.route_begin.push_back(static_cast<std::int64_t>(scene_.route_edges.size()));
  }
  return found->second;
}

void SceneMaker::finish() {
  if (scene_.num_frames() > 0) sink_(scene_);
  scene_ = {};
  vehicle_of_.clear();
  route_of_.clear();
}

}  // namespace traffic::data_prep
