// Measures how a vehicle, the ego, is driven (drive_measures.h).
#include "traffic/driving/drive_measures.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "signal_letters.h"
#include "traffic/driving/geometry.h"

namespace traffic::driving {
namespace {

/// A vehicle that is slower than this counts as standing.
constexpr double kStanding_mps = 0.1;
/// The score is 0 if the ego (the vehicle that is measured) was off the road for longer than this.
constexpr double kMaxOffLane_s = 1.0;
/// A vehicle is too close if the ego would touch it within this time.
constexpr double kClose_s = 1.0;
/// A vehicle has hit the ego from behind if it lies within this angle of the direction to the rear.
constexpr double kRear_rad = std::numbers::pi / 6.0;

/// Whether the vehicles touch within kClose_s if both keep speed and direction. Vehicles behind the
/// ego do not count.
bool is_close(const Box& ego, const Box& other) {
  if (ego.speed_mps < kStanding_mps) return false;
  if (to_frame(ego.pose, other.pose.x_m, other.pose.y_m).x_m <= 0.0F) return false;
  constexpr int kLooks = 4;
  for (int look = 1; look <= kLooks; ++look) {
    const double ahead_s = kClose_s * look / kLooks;
    if (overlap(moved_on(ego, ahead_s), moved_on(other, ahead_s))) return true;
  }
  return false;
}

/// The front end of a vehicle, as a thin box.
Box front_of(const Box& box) {
  constexpr float kDepth_m = 0.3F;
  const Point centre = from_frame(box.pose, {.x_m = 0.5F * (box.length_m - kDepth_m), .y_m = 0.0F});
  return {.pose = {.x_m = centre.x_m, .y_m = centre.y_m, .heading_rad = box.pose.heading_rad},
          .length_m = kDepth_m,
          .width_m = box.width_m};
}

}  // namespace

double drive_score(const DriveMeasures& measures, double reference_m) {
  const bool fails = measures.faults > 0 || measures.red_lights > 0 || measures.is_lost ||
                     measures.off_lane_s > kMaxOffLane_s;
  if (fails || measures.seconds <= 0.0) return 0.0;
  constexpr double kLeastReference_m = 1.0;
  const double progress = reference_m < kLeastReference_m
                              ? 1.0
                              : std::clamp(measures.progress_m / reference_m, 0.0, 1.0);
  const double open = 1.0 - measures.close_s / measures.seconds;
  const double comfort = 1.0 - measures.uncomfortable_s / measures.seconds;
  return std::max(0.0, (5.0 * open + 5.0 * progress + 2.0 * comfort) / 12.0);
}

DriveMeter::DriveMeter(const RoadIndex& roads, std::span<const std::int32_t> route, const Box& ego)
    : roads_(roads), route_(roads, route), last_(ego), last_frame_(ego) {
  route_.update(ego.pose.x_m, ego.pose.y_m);
}

void DriveMeter::step(double step_s, const Box& ego, std::span<const Neighbour> near,
                      std::span<const std::uint8_t> signals) {
  measures_.seconds += step_s;
  measures_.driven_m += std::hypot(ego.pose.x_m - last_.pose.x_m, ego.pose.y_m - last_.pose.y_m);
  note_red_light(ego, signals);
  route_.update(ego.pose.x_m, ego.pose.y_m);
  measures_.progress_m = route_.progress_m();
  if (!roads_.is_on_road(ego.pose)) measures_.off_lane_s += step_s;
  note_collisions(ego, near);
  is_first_step_ = false;
  since_frame_s_ += step_s;
  if (since_frame_s_ >= kFrame_s - 1e-6) note_frame(ego, near);
  last_ = ego;
}

/// Counts vehicles that overlap with the ego, each once. Overlaps in the first step do not count:
/// the driver has not caused them.
void DriveMeter::note_collisions(const Box& ego, std::span<const Neighbour> near) {
  for (const Neighbour& other : near) {
    const double apart_m =
        std::hypot(other.box.pose.x_m - ego.pose.x_m, other.box.pose.y_m - ego.pose.y_m);
    const double reach_m = 0.5 * (std::hypot(ego.length_m, ego.width_m) +
                                  std::hypot(other.box.length_m, other.box.width_m));
    if (apart_m > reach_m || touched_.contains(other.id) || !overlap(ego, other.box)) continue;
    touched_.insert(other.id);
    if (is_first_step_) continue;
    ++measures_.collisions;
    if (is_at_fault(ego, other.box)) ++measures_.faults;
  }
}

/// Decides by the rules of the benchmark nuPlan. The ego is not at fault if it stands or is hit
/// from behind. It is at fault if it hits a standing vehicle, or any vehicle with its front. If the
/// sides of two moving vehicles touch, the ego is at fault if it was not entirely within its lane.
bool DriveMeter::is_at_fault(const Box& ego, const Box& other) const {
  if (ego.speed_mps < kStanding_mps) return false;
  if (other.speed_mps < kStanding_mps) return true;
  const Point seen = to_frame(ego.pose, other.pose.x_m, other.pose.y_m);
  const double from_rear_rad = std::numbers::pi - std::fabs(std::atan2(seen.y_m, seen.x_m));
  if (from_rear_rad < kRear_rad) return false;
  if (overlap(front_of(ego), other)) return true;
  const OnLane& place = route_.place();
  const double lane_width_m = roads_.map().width_m[static_cast<std::size_t>(place.lane)];
  return std::fabs(place.to_left_m) + 0.5 * ego.width_m > 0.5 * lane_width_m;
}

/// Counts a red light when the ego's front passes the end of a lane while all links from this lane
/// along the route show red.
void DriveMeter::note_red_light(const Box& ego, std::span<const std::uint8_t> signals) {
  const auto ahead = route_.ahead();
  if (ahead.size() < 2) return;
  const OnLane& place = route_.place();
  const RoadMap& map = roads_.map();
  const auto lane = static_cast<std::size_t>(place.lane);
  if (map.edge[lane] != ahead.front()) return;  // the ego is already inside the junction
  const Pose line = roads_.pose_at(place.lane, roads_.length_m(place.lane));
  const auto past_line_m = [&line](const Box& box) {
    const Point front = from_frame(box.pose, {.x_m = 0.5F * box.length_m, .y_m = 0.0F});
    return to_frame(line, front.x_m, front.y_m);
  };
  const Point before = past_line_m(last_);
  const Point now = past_line_m(ego);
  if (before.x_m > 0.0F || now.x_m <= 0.0F || std::fabs(now.y_m) > map.width_m[lane]) return;
  bool is_red = false;
  for (const std::int32_t number : roads_.links_from(place.lane)) {
    const Link& link = map.links[static_cast<std::size_t>(number)];
    if (map.edge[static_cast<std::size_t>(link.to_lane)] != ahead[1]) continue;
    if (link.signal < 0) return;
    const std::uint8_t letter = signals[static_cast<std::size_t>(link.signal)];
    if (!shows_red(letter)) return;
    is_red = true;
  }
  if (is_red) ++measures_.red_lights;
}

void DriveMeter::note_frame(const Box& ego, std::span<const Neighbour> near) {
  const double frame_s = since_frame_s_;
  since_frame_s_ = 0.0;
  const bool has_close = std::any_of(near.begin(), near.end(), [&ego](const Neighbour& other) {
    return is_close(ego, other.box);
  });
  if (has_close) measures_.close_s += frame_s;
  const double accel_mps2 = (ego.speed_mps - last_frame_.speed_mps) / frame_s;
  const double turned_rad = wrapped_rad(ego.pose.heading_rad - last_frame_.pose.heading_rad);
  const double lateral_mps2 = std::fabs(ego.speed_mps * turned_rad / frame_s);
  const double jerk_mps3 =
      last_accel_mps2_ ? std::fabs(accel_mps2 - *last_accel_mps2_) / frame_s : 0.0;
  const ComfortLimits limits;
  if (std::fabs(accel_mps2) > limits.accel_mps2 || lateral_mps2 > limits.lateral_accel_mps2 ||
      jerk_mps3 > limits.jerk_mps3) {
    measures_.uncomfortable_s += frame_s;
  }
  last_accel_mps2_ = accel_mps2;
  last_frame_ = ego;
}

}  // namespace traffic::driving
