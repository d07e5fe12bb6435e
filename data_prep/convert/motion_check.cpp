// Checks that the motions of recorded vehicles are physically possible (motion_check.h).
#include "motion_check.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "traffic/core/error.h"

namespace traffic::data_prep {
namespace {

/// A quantity of a vehicle, such as its speed, with its minimum and maximum. Unknown values (NaN)
/// are not checked.
struct Bounds {
  const char* name;
  double value;
  double low;
  double high;
  const char* unit;
};

}  // namespace

void MotionCheck::begin_stretch(double step_s) {
  step_s_ = step_s;
  tracker_.clear([](auto&) {});
}

void MotionCheck::check(RecordedFrame& frame) {
  tracker_.begin_frame();
  std::erase_if(frame.vehicles, [&](RecordedVehicle& v) {
    if (!has_possible_numbers(frame, v)) return true;
    auto* entry = tracker_.see(frame.view(v.name));
    if (entry == nullptr) {
      problems_.report(
          file_, v.line,
          fmt::format("vehicle '{}' is listed twice at the same time", frame.view(v.name)));
      return true;
    }
    if (entry->state.known && !has_possible_change(frame, v, entry->state)) {
      entry->state = {};
      return true;
    }
    follow(frame, v, entry->state);
    return false;
  });
  tracker_.end_frame([](auto&) {});
}

bool MotionCheck::has_possible_numbers(const RecordedFrame& frame, const RecordedVehicle& v) {
  constexpr double kFarthestM = 1e7;
  const std::array<Bounds, 6> all{
      {{"the speed", v.speed_mps, 0, data::kMaxSpeedMps, "m/s"},
       {"the length", v.length_m, 0.1, 1000, "m"},
       {"the speed limit", v.speed_limit_mps, 0, data::kMaxSpeedMps, "m/s"},
       {"x", v.x_m, -kFarthestM, kFarthestM, "m"},
       {"y", v.y_m, -kFarthestM, kFarthestM, "m"},
       {"the position on its lane", v.lane_pos_m, -kFarthestM, kFarthestM, "m"}}};
  for (const Bounds& number : all) {
    if (!(number.value < number.low || number.value > number.high)) continue;
    problems_.report(
        file_, v.line,
        fmt::format("vehicle '{}': {} is {:.6g} {}, expected {} to {}", frame.view(v.name),
                    number.name, number.value, number.unit, number.low, number.high));
    return false;
  }
  if (!std::isnan(v.accel_mps2) && !data::is_possible_acceleration(v.accel_mps2, v.speed_mps)) {
    problems_.report(
        file_, v.line,
        fmt::format("vehicle '{}': the acceleration is {:.6g} m/s2, expected at most {} either way",
                    frame.view(v.name), v.accel_mps2, data::kMaxAccelerationMps2));
    return false;
  }
  return true;
}

bool MotionCheck::has_possible_change(const RecordedFrame& frame, const RecordedVehicle& v,
                                      const State& before) {
  const double accel_mps2 = (v.speed_mps - before.speed_mps) / step_s_;
  if (data::is_possible_acceleration(accel_mps2, v.speed_mps)) return true;
  problems_.report(
      file_, v.line,
      fmt::format("vehicle '{}': the speed changes from {:.6g} to {:.6g} m/s within {:.6g} s, "
                  "which is impossible",
                  frame.view(v.name), before.speed_mps, v.speed_mps, step_s_));
  return false;
}

void MotionCheck::follow(const RecordedFrame& frame, RecordedVehicle& v, State& state) {
  const std::string_view lane = frame.view(v.lane);
  const double faster_mps = std::max(v.speed_mps, state.speed_mps);
  // If the recording has no x and y, or if the vehicle is new, this is NaN. No comparison with NaN
  // is true.
  const double moved_m = std::hypot(v.x_m - state.x_m, v.y_m - state.y_m);
  if (places_ == Places::kPlane && moved_m > data::reach_m(faster_mps, step_s_)) {
    v.jumped = true;
    ++jumps_;
  }
  if (state.lane != lane) state.along_lane = {};
  state.known = true;
  state.lane = lane;
  state.x_m = v.x_m;
  state.y_m = v.y_m;
  state.speed_mps = v.speed_mps;
  if (!std::isnan(v.lane_pos_m) && !lane.empty()) {
    compare(along_lanes_, state.along_lane, {v.lane_pos_m, 0}, frame, v);
  }
  if (places_ == Places::kPlane && !std::isnan(v.x_m + v.y_m)) {
    const scene::Point from = state.in_plane.from;
    if (compare(in_plane_, state.in_plane, {v.x_m, v.y_m}, frame, v)) {
      compare_heading(frame, v, {v.x_m - from.x, v.y_m - from.y});
    }
  }
}

bool MotionCheck::compare(Comparison& comparison, data::DisplacementRatio::Stretch& stretch,
                          scene::Point to, const RecordedFrame& frame, const RecordedVehicle& v) {
  const auto ratio = comparison.ratio.move(stretch, to, v.speed_mps, step_s_);
  if (!ratio || comparison.line > 0 || fits(*ratio)) return ratio.has_value();
  comparison.line = v.line;
  comparison.vehicle = frame.view(v.name);
  comparison.first_ratio = *ratio;
  return true;
}

/// Compares the heading that a recording states with the displacement of the vehicle.
/// @param moved_m displacement over the stretch of 20 m that the vehicle has just completed
void MotionCheck::compare_heading(const RecordedFrame& frame, const RecordedVehicle& v,
                                  scene::Point moved_m) {
  // The cosine of 60 degrees. At the end of a turn the displacement differs from the heading by
  // half the angle of the turn. So even correct recordings have angles of up to 60 degrees.
  constexpr double kSmallestCosine = 0.5;
  const double distance_m = std::hypot(moved_m.x, moved_m.y);
  if (std::isnan(v.heading_x) || distance_m == 0 || step_s_ > data::kLongestComparedStepS) return;
  ++headings_.stretches;
  const double forward_m = moved_m.x * v.heading_x + moved_m.y * v.heading_y;
  if (forward_m >= kSmallestCosine * distance_m) return;
  if (++headings_.elsewhere > 1) return;
  headings_.line = v.line;
  headings_.vehicle = frame.view(v.name);
}

void MotionCheck::finish() const {
  reject(along_lanes_);
  reject(in_plane_);
  reject_headings();
}

void MotionCheck::reject_headings() const {
  constexpr std::int64_t kFewStretches = 4;
  if (headings_.stretches < kFewStretches || 2 * headings_.elsewhere <= headings_.stretches) return;
  throw DataError(
      "{}:{}: in {} of {} stretches of 20 m the direction of motion differs from the stated angle "
      "(first for vehicle '{}' in this line); expected angles in degrees, clockwise from north",
      file_, headings_.line, headings_.elsewhere, headings_.stretches, headings_.vehicle);
}

void MotionCheck::reject(const Comparison& comparison) const {
  const auto median = comparison.ratio.median();
  if (!median || fits(*median)) return;
  const std::string unit = data::likely_unit(*median);
  throw DataError(
      "{}:{}: according to their {}, vehicles cover {:.3g} times the distance that follows from "
      "their speeds (median of {} stretches of 20 m; {:.3g} times for vehicle '{}' in this line)"
      "{}{}; expected metres and m/s",
      file_, comparison.line, comparison.places, *median, comparison.ratio.num_stretches(),
      comparison.first_ratio, comparison.vehicle, unit.empty() ? "" : ": ", unit);
}

}  // namespace traffic::data_prep
