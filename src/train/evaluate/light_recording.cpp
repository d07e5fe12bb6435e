#include "evaluate/light_recording.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace traffic::train {
namespace {

using Json = nlohmann::ordered_json;

double in_tenths(double value) { return std::round(value * 10.0) / 10.0; }

}  // namespace

void LightRecording::add(const scene::RoadState& state) {
  const auto lights = state.lights();
  shown_.resize(lights.size());
  for (std::size_t i = 0; i < lights.size(); ++i) {
    if (lights[i].state == shown_[i]) continue;
    shown_[i] = lights[i].state;
    changes_.push_back({.time_s = state.time_s(), .light = i, .state = shown_[i]});
  }
}

Json LightRecording::changes() const {
  Json list = Json::array();
  for (const Change& change : changes_) {
    list.push_back(Json{in_tenths(change.time_s), change.light, change.state});
  }
  return list;
}

Json stop_lines(const scene::Road& road) {
  constexpr double kHalfLaneM = 1.6;
  Json lines = Json::array();
  for (const scene::Lane& lane : road.lanes) {
    Json links = Json::array();
    int light = -1;
    for (const scene::Link& link : lane.links) {
      if (link.light < 0) continue;
      light = link.light;
      links.push_back(link.light_link);
    }
    if (light < 0 || lane.shape.size() < 2) continue;
    const scene::Point end = lane.shape.back();
    const scene::Point before = lane.shape[lane.shape.size() - 2];
    const double length_m = std::max(1e-6, std::hypot(end.x - before.x, end.y - before.y));
    const double across_x = -(end.y - before.y) / length_m * kHalfLaneM;
    const double across_y = (end.x - before.x) / length_m * kHalfLaneM;
    lines.push_back(Json{{"light", light},
                         {"links", std::move(links)},
                         {"line",
                          {in_tenths(end.x - across_x), in_tenths(end.y - across_y),
                           in_tenths(end.x + across_x), in_tenths(end.y + across_y)}}});
  }
  return lines;
}

}  // namespace traffic::train
