// Parses a JSON file with recorded traffic (json_chunk.h).
#include "json_chunk.h"

#include <cmath>
#include <utility>

#include "traffic/core/error.h"

namespace traffic::data_prep {

bool ChunkHandler::enter(In place) {
  constexpr std::size_t kMaxDepth = 32;
  if (path_.size() >= kMaxDepth) {
    throw DataError("{}:{}: values are nested more than {} deep; expected samples of vehicles",
                    file_, bytes_.line(), kMaxDepth);
  }
  path_.push_back(place);
  return true;
}

double* ChunkHandler::number_of_key() {
  if (key_ == "x_m") return &vehicle_.x_m;
  if (key_ == "y_m") return &vehicle_.y_m;
  if (key_ == "speed_mps") return &vehicle_.speed_mps;
  if (key_ == "acceleration_mps2") return &vehicle_.accel_mps2;
  if (key_ == "lane_pos_m") return &vehicle_.lane_pos_m;
  if (key_ == "lane_index") return &lane_index_;
  if (key_ == "length_m") return &vehicle_.length_m;
  if (key_ == "angle_deg") return &angle_deg_;
  if (key_ == "speed_limit_mps") return &vehicle_.speed_limit_mps;
  return nullptr;
}

bool ChunkHandler::number(double value, const std::string& text) {
  if (where() == In::kSample && key_ == "time_s") {
    frame_.time_s = value;
    has_time_ = true;
  } else if (where() == In::kVehicle) {
    if (key_ == "id") {
      vehicle_.name = frame_.keep(text);
    } else if (double* to = number_of_key()) {
      *to = value;
    } else if (key_ == "type" || key_ == "lane") {
      return wrong("a number");
    }
  }
  return true;
}

bool ChunkHandler::string(string_t& value) {
  if (where() == In::kVehicle) {
    if (key_ == "id") {
      vehicle_.name = frame_.keep(value);
    } else if (key_ == "type") {
      vehicle_.type = frame_.keep(value);
    } else if (key_ == "lane") {
      vehicle_.lane = frame_.keep(value);
    } else if (number_of_key() != nullptr) {
      return wrong(fmt::format("'{}'", value.substr(0, 40)));
    }
  } else if (where() == In::kSample && key_ == "time_s") {
    return wrong(fmt::format("'{}'", value.substr(0, 40)));
  }
  return true;
}

bool ChunkHandler::wrong(const std::string& found) {
  const bool matters = (where() == In::kVehicle && number_of_key() != nullptr) ||
                       (where() == In::kVehicle && (key_ == "type" || key_ == "lane")) ||
                       (where() == In::kSample && key_ == "time_s");
  if (!matters) return true;
  sound_ = false;
  problems_.report(file_, bytes_.line(),
                   fmt::format("{} is {}, expected a {}", key_, found,
                               key_ == "type" || key_ == "lane" ? "text" : "number"));
  return true;
}

bool ChunkHandler::start_object(std::size_t) {
  if (path_.empty()) return enter(In::kChunk);
  if (where() == In::kSamples) {
    frame_.clear();
    frame_.line = bytes_.line();
    has_time_ = false;
    return enter(In::kSample);
  }
  if (where() == In::kVehicles) {
    vehicle_ = {};
    vehicle_.line = bytes_.line();
    angle_deg_ = lane_index_ = kUnknown;
    sound_ = true;
    return enter(In::kVehicle);
  }
  return enter(In::kOther);
}

bool ChunkHandler::start_array(std::size_t) {
  if (where() == In::kChunk && key_ == "samples") return enter(In::kSamples);
  if (where() == In::kSample && key_ == "vehicles") return enter(In::kVehicles);
  return enter(In::kOther);
}

bool ChunkHandler::end_array() {
  path_.pop_back();
  return true;
}

void ChunkHandler::finish_vehicle() {
  ++vehicles_;
  if (!sound_) return;
  for (const auto& [name, there] :
       {std::pair{"id", vehicle_.name.size > 0},
        std::pair{"speed_mps", !std::isnan(vehicle_.speed_mps)},
        std::pair{"x_m and y_m", (!std::isnan(vehicle_.x_m) && !std::isnan(vehicle_.y_m)) ||
                                     !std::isnan(vehicle_.lane_pos_m)}}) {
    if (there) continue;
    problems_.report(file_, vehicle_.line,
                     fmt::format("vehicle '{}' has no {}", frame_.view(vehicle_.name), name));
    return;
  }
  if (!std::isnan(angle_deg_)) vehicle_.set_angle(angle_deg_);
  if (!std::isnan(lane_index_)) {
    constexpr double kMostLanes = 1e6;
    if (!(lane_index_ >= 0 && lane_index_ <= kMostLanes &&
          lane_index_ == std::round(lane_index_))) {
      problems_.report(
          file_, vehicle_.line,
          fmt::format(
              "vehicle '{}': lane_index is {}, expected a whole number: 0 (the rightmost) or more",
              frame_.view(vehicle_.name), lane_index_));
      return;
    }
    vehicle_.lane_index = static_cast<int>(lane_index_);
  }
  frame_.vehicles.push_back(vehicle_);
}

bool ChunkHandler::end_object() {
  const In ended = where();
  path_.pop_back();
  if (ended == In::kVehicle) finish_vehicle();
  if (ended != In::kSample) return true;
  ++samples_;
  if (!has_time_) {
    problems_.report(file_, frame_.line, "the sample has no time_s");
    return true;
  }
  stopped_ = !sink_(frame_);
  return !stopped_;
}

}  // namespace traffic::data_prep
