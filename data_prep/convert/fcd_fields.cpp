// FcdFields of formats.h: collects and checks the attributes of a vehicle in SUMO's floating car
// data. The readers of XML and of CSV tables use it.
#include <fmt/format.h>

#include "formats.h"
#include "numbers.h"

namespace traffic::data_prep {

void FcdFields::begin(std::int64_t line) {
  vehicle_ = {};
  vehicle_.line = line;
  on_edge_ = false;
  sound_ = true;
}

void FcdFields::set_number(double& to, std::string_view name, std::string_view value,
                           const RecordedFrame& frame) {
  if (const auto number = parse_finite(value)) {
    to = *number;
    return;
  }
  if (!sound_) return;
  sound_ = false;
  problems_.report(file_, vehicle_.line,
                   fmt::format("vehicle '{}': {} is '{}', expected a number",
                               frame.view(vehicle_.name), name, value.substr(0, 40)));
}

void FcdFields::set(std::string_view name, std::string_view value, RecordedFrame& frame) {
  if (name == "id") {
    vehicle_.name = frame.keep(value);
  } else if (name == "x") {
    set_number(vehicle_.x_m, name, value, frame);
  } else if (name == "y") {
    set_number(vehicle_.y_m, name, value, frame);
  } else if (name == "angle") {
    double degrees = 0;
    set_number(degrees, name, value, frame);
    vehicle_.set_angle(degrees);
  } else if (name == "type") {
    vehicle_.type = frame.keep(value);
  } else if (name == "speed") {
    set_number(vehicle_.speed_mps, name, value, frame);
  } else if (name == "pos") {
    set_number(vehicle_.lane_pos_m, name, value, frame);
  } else if (name == "lane") {
    vehicle_.lane = frame.keep(value);
  } else if (name == "edge") {
    on_edge_ = !value.empty();
  } else if (name == "acceleration") {
    set_number(vehicle_.accel_mps2, name, value, frame);
  } else if (name == "leaderID") {
    vehicle_.leader = frame.keep(value);
  } else if (name == "leaderGap" && !value.empty()) {
    set_number(vehicle_.leader_gap_m, name, value, frame);
  }
}

void FcdFields::finish(RecordedFrame& frame) {
  if (!sound_) return;
  const auto missing = [&](const char* name) {
    problems_.report(file_, vehicle_.line,
                     fmt::format("vehicle '{}' has no {}; SUMO writes it unless "
                                 "--fcd-output.attributes leaves it out",
                                 frame.view(vehicle_.name), name));
  };
  if (vehicle_.name.size == 0) return missing("id");
  if (on_edge_ && vehicle_.lane.size == 0) {
    problems_.report(
        file_, vehicle_.line,
        fmt::format("vehicle '{}' is on an edge but not on a lane; expected the attribute "
                    "lane, which microscopic simulations write",
                    frame.view(vehicle_.name)));
    return;
  }
  if (std::isnan(vehicle_.speed_mps)) return missing("speed");
  if (std::isnan(vehicle_.x_m) || std::isnan(vehicle_.y_m)) {
    if (std::isnan(vehicle_.lane_pos_m) || vehicle_.lane.size == 0) return missing("x and y");
  }
  frame.vehicles.push_back(vehicle_);
}

}  // namespace traffic::data_prep
