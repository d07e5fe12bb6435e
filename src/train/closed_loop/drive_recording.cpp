#include "closed_loop/drive_recording.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "evaluate/replay_tracks.h"
#include "traffic/driving/geometry.h"

namespace traffic::train {
namespace {

using Json = nlohmann::ordered_json;

double rounded(double value) { return std::round(value * 10.0) / 10.0; }

struct Rectangle {
  float left = std::numeric_limits<float>::infinity();
  float bottom = std::numeric_limits<float>::infinity();
  float right = -std::numeric_limits<float>::infinity();
  float top = -std::numeric_limits<float>::infinity();
};

Rectangle rectangle_of(const driving::RoadMap& map) {
  Rectangle all;
  for (const driving::Point& point : map.points) {
    all.left = std::min(all.left, point.x_m);
    all.right = std::max(all.right, point.x_m);
    all.bottom = std::min(all.bottom, point.y_m);
    all.top = std::max(all.top, point.y_m);
  }
  return all;
}

Json line_of(std::span<const driving::Point> points) {
  Json line = Json::array();
  for (const driving::Point& point : points) {
    line.push_back(rounded(point.x_m));
    line.push_back(rounded(point.y_m));
  }
  return line;
}

/// A stop line for each lane with signals. On the replay page all signals of the map belong to
/// light 0, so that the index of a link is the number of its signal.
Json stop_lines(const driving::RoadMap& map) {
  // This pointer does not own the map, which belongs to the caller.
  const driving::RoadIndex roads(
      std::shared_ptr<const driving::RoadMap>(std::shared_ptr<const driving::RoadMap>(), &map));
  std::map<std::int32_t, std::vector<std::int32_t>> signals_of;  // by lane
  for (const driving::Link& link : map.links) {
    if (link.signal >= 0) signals_of[link.from_lane].push_back(link.signal);
  }
  Json lines = Json::array();
  for (const auto& [lane, signals] : signals_of) {
    const driving::Pose end = roads.pose_at(lane, roads.length_m(lane));
    const float half_m = 0.5F * map.width_m[static_cast<std::size_t>(lane)];
    const std::array across = {driving::from_frame(end, {.x_m = 0.0F, .y_m = half_m}),
                               driving::from_frame(end, {.x_m = 0.0F, .y_m = -half_m})};
    lines.push_back(Json{{"light", 0}, {"links", signals}, {"line", line_of(across)}});
  }
  return lines;
}

}  // namespace

void DriveRecording::add(const sim::DrivingEnv& env, std::span<const driving::Plan> plans) {
  Frame& frame = frames_.emplace_back();
  frame.time_s = env.time_s();
  for (const sim::DrivenVehicle& vehicle : env.vehicles()) {
    const driving::Point front =
        driving::from_frame(vehicle.box.pose, {.x_m = 0.5F * vehicle.box.length_m, .y_m = 0.0F});
    frame.samples.push_back({.vehicle = vehicle.id,
                             .x_m = front.x_m,
                             .y_m = front.y_m,
                             .speed_mps = vehicle.box.speed_mps,
                             .commanded = vehicle.ego >= 0});
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const driving::Pose& pose = env.views()[i].ego[0].pose;
    auto& line = frame.plans.emplace_back();
    line.push_back(driving::from_frame(pose, {}));
    for (const driving::Point& point : plans[i].points) {
      line.push_back(driving::from_frame(pose, point));
    }
  }
  frame.signals.assign(env.signals().begin(), env.signals().end());
}

Json DriveRecording::network(const driving::RoadMap& map) {
  const Rectangle all = rectangle_of(map);
  Json lanes = Json::array();
  for (std::size_t lane = 0; lane < map.num_lanes(); ++lane) {
    lanes.push_back(Json{{"internal", map.kind[lane] == driving::LaneKind::kConnector ? 1 : 0},
                         {"line", line_of(map.line(lane))}});
  }
  return Json{{"left", rounded(all.left)},   {"bottom", rounded(all.bottom)},
              {"right", rounded(all.right)}, {"top", rounded(all.top)},
              {"lanes", std::move(lanes)},   {"stop_lines", stop_lines(map)}};
}

Json DriveRecording::tracks(const driving::RoadMap& map) const {
  const Rectangle all = rectangle_of(map);
  const double side_m = std::max({all.right - all.left, all.top - all.bottom, 1.0F});
  const PackedTracks packed = pack_tracks(
      frames_, {.left_m = rounded(all.left), .bottom_m = rounded(all.bottom), .side_m = side_m});
  Json vehicles = Json::array();
  for (const TrackHead& track : packed.heads) {
    vehicles.push_back(Json{track.vehicle, 0, track.first, track.frames});
  }
  Json lights = Json::array();
  Json plans = Json::array();
  const std::vector<std::uint8_t>* last = nullptr;
  for (const Frame& frame : frames_) {
    if (last == nullptr || *last != frame.signals) {
      lights.push_back(
          Json{frame.time_s, 0, std::string(frame.signals.begin(), frame.signals.end())});
    }
    last = &frame.signals;
    Json lines = Json::array();
    for (const auto& line : frame.plans) lines.push_back(line_of(line));
    plans.push_back(std::move(lines));
  }
  return Json{{"frame_s", driving::kFrame_s},
              {"frames", frames_.size()},
              {"begin_s", frames_.empty() ? 0.0 : frames_.front().time_s},
              {"side_m", side_m},
              {"vehicles", std::move(vehicles)},
              {"lights", std::move(lights)},
              {"plans", std::move(plans)},
              {"samples", base64(packed.samples)}};
}

}  // namespace traffic::train
