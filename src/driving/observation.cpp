// Computes the input of the driving network: an image from above and the status (observation.h).
#include "traffic/driving/observation.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "route_line.h"
#include "signal_letters.h"
#include "traffic/core/error.h"
#include "traffic/driving/geometry.h"

namespace traffic::driving {
namespace {

// Units in which the status contains speeds, distances and decelerations.
constexpr float kSpeedUnit_mps = 10.0F;
constexpr float kDistanceUnit_m = 50.0F;
constexpr float kOffsetUnit_m = 10.0F;
constexpr float kNearUnit_m = 5.0F;  ///< for a second, finer value of the distance to what is ahead
constexpr float kCrossingUnit_m = 20.0F;
constexpr float kDecelUnit_mps2 = 4.0F;
constexpr float kLine_m = 60.0F;  ///< length of the part of the route that the status describes
/// Vehicles stop about this far before a stop line or another vehicle.
constexpr float kMargin_m = 1.0F;
constexpr float kCrossingTime_s = 5.0F;  ///< vehicles that cross the line later do not count

/// Writes numbers one after the other.
class Writer {
 public:
  explicit Writer(std::span<float> out) : out_(out) {}
  void operator()(double value) { out_[at_++] = static_cast<float>(value); }
  [[nodiscard]] std::size_t written() const { return at_; }

 private:
  std::span<float> out_;
  std::size_t at_ = 0;
};

/// The line in the coordinate system of a vehicle at `pose`.
std::vector<Point> seen_line(const RouteLine& line, const Pose& pose) {
  std::vector<Point> seen;
  seen.reserve(line.points.size());
  for (const Point& point : line.points) seen.push_back(to_frame(pose, point.x_m, point.y_m));
  return seen;
}

/// Position on a line at a distance from its begin. Beyond its end the line goes straight on.
Point at_distance(std::span<const Point> line, float distance_m) {
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const float dx = line[i + 1].x_m - line[i].x_m;
    const float dy = line[i + 1].y_m - line[i].y_m;
    const float length = std::hypot(dx, dy);
    if (distance_m <= length || i + 2 == line.size()) {
      const float share = length > 0.0F ? distance_m / length : 0.0F;
      return {line[i].x_m + share * dx, line[i].y_m + share * dy};
    }
    distance_m -= length;
  }
  return line.back();
}

/// The vehicle ahead. The initial values stand for no vehicle.
struct Leader {
  float gap_m = kDistanceUnit_m;  ///< between the vehicles' bodies
  float speed_mps = 2.0F * kSpeedUnit_mps;
};

/// The constant deceleration with which the ego (the vehicle that is driven) stays behind something
/// ahead.
/// @param gap_m distance of the ego's front to it
/// @param other_mps its speed
float needed_mps2(float gap_m, float speed_mps, float other_mps) {
  const float closing_mps = std::max(0.0F, speed_mps - other_mps);
  return closing_mps * closing_mps / (2.0F * std::max(gap_m - kMargin_m, kMargin_m));
}

/// A vehicle that will cross the route's line if it keeps speed and direction. The initial values
/// stand for no vehicle.
struct Crossing {
  float at_m = kLine_m;            ///< distance along the line
  float time_s = kCrossingTime_s;  ///< until the vehicle's centre is there
  float speed_mps = 0.0F;
};

/// Where a vehicle first crosses the line, which is in the ego's coordinate system; nullopt if it
/// does not cross within kCrossingTime_s.
std::optional<Crossing> crossing_of(std::span<const Point> line, const Pose& ego, const Box& box) {
  const Point at = to_frame(ego, box.pose.x_m, box.pose.y_m);
  const double turned_rad = box.pose.heading_rad - ego.heading_rad;
  const auto ahead_m = static_cast<double>(kCrossingTime_s * box.speed_mps);
  const auto way_x = static_cast<float>(ahead_m * std::cos(turned_rad));
  const auto way_y = static_cast<float>(ahead_m * std::sin(turned_rad));
  float walked = 0.0F;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const float dx = line[i + 1].x_m - line[i].x_m, dy = line[i + 1].y_m - line[i].y_m;
    const float length = std::hypot(dx, dy);
    // If the vehicle's way is parallel to the segment, both shares are not finite, so the test
    // below fails.
    const float to_x = line[i].x_m - at.x_m, to_y = line[i].y_m - at.y_m;
    const float area = way_x * dy - way_y * dx;
    const float of_way = (to_x * dy - to_y * dx) / area;
    const float of_segment = (to_x * way_y - to_y * way_x) / area;
    if (of_way >= 0.0F && of_way <= 1.0F && of_segment >= 0.0F && of_segment <= 1.0F) {
      return Crossing{walked + of_segment * length, of_way * kCrossingTime_s, box.speed_mps};
    }
    walked += length;
  }
  return std::nullopt;
}

/// The kCrossing crossings that are nearest to the ego, the nearest first.
std::array<Crossing, kCrossing> crossings_of(std::span<const Point> line, const View& view) {
  constexpr float kMoves_mps = 0.5F;
  std::array<Crossing, kCrossing> nearest;
  for (const Box& box : view.others[0]) {
    if (box.speed_mps < kMoves_mps) continue;
    const auto found = crossing_of(line, view.ego[0].pose, box);
    if (!found) continue;
    const auto place = std::ranges::upper_bound(nearest, found->at_m, {}, &Crossing::at_m);
    if (place == nearest.end()) continue;
    std::move_backward(place, nearest.end() - 1, nearest.end());
    *place = *found;
  }
  return nearest;
}

/// The nearest of the vehicles ahead whose centres are near the line.
Leader leader_on(std::span<const Point> line, const View& view) {
  constexpr float kAside_m = 1.7F;
  Leader leader;
  for (const Box& box : view.others[0]) {
    const Point at = to_frame(view.ego[0].pose, box.pose.x_m, box.pose.y_m);
    if (at.x_m < -5.0F || std::hypot(at.x_m, at.y_m) > kLine_m) continue;
    float walked = 0.0F;
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
      const float dx = line[i + 1].x_m - line[i].x_m;
      const float dy = line[i + 1].y_m - line[i].y_m;
      const float length = std::hypot(dx, dy);
      if (length == 0.0F) continue;
      const float along = ((at.x_m - line[i].x_m) * dx + (at.y_m - line[i].y_m) * dy) / length;
      const float aside = ((at.y_m - line[i].y_m) * dx - (at.x_m - line[i].x_m) * dy) / length;
      if (along >= 0.0F && along <= length && std::abs(aside) < kAside_m) {
        const float gap = walked + along - (box.length_m + view.ego[0].length_m) / 2.0F;
        if (walked + along > 0.5F && gap < leader.gap_m) leader = {gap, box.speed_mps};
        break;
      }
      walked += length;
    }
  }
  return leader;
}

void clear_history(const RasterSpec& spec, std::span<std::uint8_t> image) {
  const auto plane = static_cast<std::size_t>(spec.rows) * static_cast<std::size_t>(spec.columns);
  const auto past = image.subspan(kVehicles05 * plane, (kHistory - 1) * plane);
  std::fill(past.begin(), past.end(), std::uint8_t{0});
}

}  // namespace

void Observer::observe(const MapIndex& map, const View& view, const ObserveOptions& options,
                       std::span<std::uint8_t> image, std::span<float> status) {
  TRAFFIC_CHECK(status.size() == kStatusSize, "the status has room for {} numbers, expected {}",
                status.size(), kStatusSize);
  raster_.draw(map, view, options.mirrored, image);
  if (!options.history) clear_history(raster_.spec(), image);
  const Pose& here = view.ego[0].pose;
  const float side = options.mirrored ? -1.0F : 1.0F;
  Writer write(status);
  const bool history = options.history;
  write(history ? 1.0 : 0.0);
  write(view.ego[0].speed_mps / kSpeedUnit_mps);
  for (std::size_t t = 1; t < kHistory; ++t) {
    write(history ? view.ego[t].speed_mps / kSpeedUnit_mps : 0.0);
  }
  for (std::size_t t = 1; t < kHistory; ++t) {
    const Pose& then = view.ego[t].pose;
    const Point at = to_frame(here, then.x_m, then.y_m);
    write(history ? at.x_m / kOffsetUnit_m : 0.0);
    write(history ? side * at.y_m / kOffsetUnit_m : 0.0);
    write(history ? side * wrapped_rad(then.heading_rad - here.heading_rad) : 0.0);
  }
  const RouteLine route = follow_route(map, view.route, here, kLine_m);
  write(route.speed_limit_mps / kSpeedUnit_mps);
  const bool has_light =
      route.signal >= 0 && static_cast<std::size_t>(route.signal) < view.signals.size();
  const std::uint8_t letter = has_light ? view.signals[static_cast<std::size_t>(route.signal)] : 0;
  const bool stops = shows_red(letter) || shows_yellow(letter);
  const float speed_mps = view.ego[0].speed_mps;
  const auto write_gap = [&](float gap_m, float other_mps) {
    write(std::min(1.0F, gap_m / kDistanceUnit_m));
    write(std::min(1.0F, gap_m / kNearUnit_m));
    write(std::min(2.0F, needed_mps2(gap_m, speed_mps, other_mps) / kDecelUnit_mps2));
  };
  write_gap(stops ? route.stop_m - 0.5F * view.ego[0].length_m : kDistanceUnit_m,
            stops ? 0.0F : speed_mps);
  write(stops ? (shows_red(letter) ? 1.0 : 0.5) : 0.0);
  write(letter == 'g' ? 1.0 : 0.0);
  const std::vector<Point> line = seen_line(route, here);
  const Leader leader = leader_on(line, view);
  write_gap(leader.gap_m, leader.speed_mps);
  write(leader.speed_mps / kSpeedUnit_mps);
  for (const Crossing& crossing : crossings_of(line, view)) {
    write(crossing.at_m / kDistanceUnit_m);
    write(std::min(1.0F, crossing.at_m / kCrossingUnit_m));
    write(crossing.time_s / kCrossingTime_s);
    write(crossing.speed_mps / kSpeedUnit_mps);
  }
  for (const float distance_m : kRouteAt_m) {
    const Point at = at_distance(line, distance_m);
    write((at.x_m - distance_m) / kOffsetUnit_m);
    write(side * at.y_m / kOffsetUnit_m);
  }
  TRAFFIC_CHECK(write.written() == kStatusSize, "observe() wrote {} numbers, expected {}",
                write.written(), kStatusSize);
}

}  // namespace traffic::driving
