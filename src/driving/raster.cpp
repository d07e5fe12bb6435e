// Draws what a driver sees as an image from above (raster.h).
#include "traffic/driving/raster.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "signal_letters.h"
#include "traffic/core/error.h"

namespace traffic::driving {
namespace {

constexpr std::size_t kMaxRows = 128;

/// floor() and ceil() for numbers that are neither negative nor large. These two functions are
/// faster than those of the C library.
/// @param x at least 0, less than 2^31
int floor_of(float x) { return static_cast<int>(x); }
int ceil_of(float x) {
  const int below = static_cast<int>(x);
  return static_cast<float>(below) < x ? below + 1 : below;
}

std::uint8_t speed_value(float speed_mps) {
  return static_cast<std::uint8_t>(
      std::lround(255.0F * std::clamp(speed_mps / kFullSpeed_mps, 0.0F, 1.0F)));
}

/// Value of a cosine or a sine in the channels kAlong and kAcross, which show directions of lanes.
std::uint8_t direction_value(float part) {
  return static_cast<std::uint8_t>(std::lround(128.0F + 127.0F * std::clamp(part, -1.0F, 1.0F)));
}

}  // namespace

/// Converts positions on the map to positions in the image, in cells. The centre of the cell in row
/// r and column c is at (c, r).
class Rasteriser::Frame {
 public:
  Frame(const RasterSpec& spec, const Pose& pose, bool mirrored)
      : spec_(spec),
        x_m_(pose.x_m),
        y_m_(pose.y_m),
        cos_(static_cast<float>(std::cos(pose.heading_rad)) / spec.cell_m),
        sin_(static_cast<float>(std::sin(pose.heading_rad)) / spec.cell_m),
        side_(mirrored ? -1.0F : 1.0F),
        column_(spec.behind_m / spec.cell_m - 0.5F),
        row_(static_cast<float>(spec.rows) / 2.0F - 0.5F) {}

  [[nodiscard]] Point cell(double x_m, double y_m) const {
    const auto dx = static_cast<float>(x_m - x_m_);
    const auto dy = static_cast<float>(y_m - y_m_);
    return {cos_ * dx + sin_ * dy + column_, side_ * (cos_ * dy - sin_ * dx) + row_};
  }
  [[nodiscard]] Point cell(const Point& point) const { return cell(point.x_m, point.y_m); }

  /// Centre and radius of a circle around the image, in the map.
  [[nodiscard]] Point middle() const {
    const float ahead = static_cast<float>(spec_.columns) / 2.0F - 0.5F - column_;
    return {static_cast<float>(x_m_) + cos_ * ahead * spec_.cell_m * spec_.cell_m,
            static_cast<float>(y_m_) + sin_ * ahead * spec_.cell_m * spec_.cell_m};
  }
  [[nodiscard]] double radius_m() const {
    return 0.5 * static_cast<double>(spec_.cell_m) *
           std::hypot(static_cast<double>(spec_.columns), static_cast<double>(spec_.rows));
  }

  /// Fills the cells of a convex polygon.
  /// @param corners in cells
  template <std::size_t N>
  void fill(const std::array<Point, N>& corners, std::uint8_t value, std::uint8_t* plane) const {
    float low = corners[0].y_m, high = low, left = corners[0].x_m, right = left;
    for (std::size_t i = 1; i < N; ++i) {
      low = std::min(low, corners[i].y_m);
      high = std::max(high, corners[i].y_m);
      left = std::min(left, corners[i].x_m);
      right = std::max(right, corners[i].x_m);
    }
    const auto columns = static_cast<float>(spec_.columns);
    const auto rows = static_cast<float>(spec_.rows);
    if (!(high >= 0.0F && low <= rows - 1.0F && right >= 0.0F && left <= columns - 1.0F)) return;
    const int first = ceil_of(std::max(low, 0.0F));
    const int last = floor_of(std::min(high, rows - 1.0F));
    if (first > last) return;
    std::array<float, kMaxRows> from;
    std::array<float, kMaxRows> to;
    std::fill(from.begin() + first, from.begin() + last + 1, columns);
    std::fill(to.begin() + first, to.begin() + last + 1, -1.0F);
    for (std::size_t i = 0, j = N - 1; i < N; j = i++) {
      const bool rises = corners[i].y_m > corners[j].y_m;
      const Point& a = rises ? corners[j] : corners[i];
      const Point& b = rises ? corners[i] : corners[j];
      if (b.y_m < 0.0F) continue;
      const int begin = std::max(first, ceil_of(std::clamp(a.y_m, 0.0F, rows)));
      const int end = floor_of(std::min(b.y_m, static_cast<float>(last)));
      const float slope = b.y_m > a.y_m ? (b.x_m - a.x_m) / (b.y_m - a.y_m) : 0.0F;
      for (int row = begin; row <= end; ++row) {
        const float x = a.x_m + slope * (static_cast<float>(row) - a.y_m);
        from[static_cast<std::size_t>(row)] = std::min(from[static_cast<std::size_t>(row)], x);
        to[static_cast<std::size_t>(row)] = std::max(to[static_cast<std::size_t>(row)], x);
      }
    }
    std::uint8_t* cells = plane + static_cast<std::ptrdiff_t>(first) * spec_.columns;
    for (int row = first; row <= last; ++row, cells += spec_.columns) {
      const auto r = static_cast<std::size_t>(row);
      if (to[r] < 0.0F || from[r] >= columns) continue;
      const int begin = ceil_of(std::max(from[r], 0.0F));
      const int end = floor_of(std::min(to[r], columns - 1.0F));
      if (begin <= end) {
        std::memset(cells + begin, value, static_cast<std::size_t>(end - begin + 1));
      }
    }
  }

  /// Fills a lane strip (a piece of a lane) between its borders.
  void fill(const MapIndex& map, const LaneStrip& strip, std::uint8_t value,
            std::uint8_t* plane) const {
    const auto first = static_cast<std::size_t>(strip.first_point);
    Point left = cell(map.left()[first]);
    Point right = cell(map.right()[first]);
    for (std::size_t i = first + 1; i < first + static_cast<std::size_t>(strip.num_points); ++i) {
      const Point next_left = cell(map.left()[i]);
      const Point next_right = cell(map.right()[i]);
      fill(std::array{left, next_left, next_right, right}, value, plane);
      left = next_left;
      right = next_right;
    }
  }

  void fill(const Box& box, std::uint8_t value, std::uint8_t* plane) const {
    const Point centre = cell(box.pose.x_m, box.pose.y_m);
    const float reach = (box.length_m + box.width_m) / spec_.cell_m;
    if (centre.x_m < -reach || centre.x_m > static_cast<float>(spec_.columns) + reach ||
        centre.y_m < -reach || centre.y_m > static_cast<float>(spec_.rows) + reach) {
      return;
    }
    const auto c = static_cast<float>(std::cos(box.pose.heading_rad));
    const auto s = static_cast<float>(std::sin(box.pose.heading_rad));
    const float half_length = box.length_m / 2.0F;
    const float half_width = box.width_m / 2.0F;
    // Vectors from the vehicle's centre to the middle of its front and of its left side, in cells.
    const Point ahead{half_length * (cos_ * c + sin_ * s),
                      half_length * side_ * (cos_ * s - sin_ * c)};
    const Point aside{half_width * (sin_ * c - cos_ * s),
                      half_width * side_ * (cos_ * c + sin_ * s)};
    const auto corner = [&](float a, float b) {
      return Point{centre.x_m + a * ahead.x_m + b * aside.x_m,
                   centre.y_m + a * ahead.y_m + b * aside.y_m};
    };
    fill(std::array{corner(1, 1), corner(-1, 1), corner(-1, -1), corner(1, -1)}, value, plane);
  }

  /// Cosine and sine of the direction of a segment of the map, relative to the vehicle's heading.
  [[nodiscard]] Point direction(const Point& from, const Point& to) const {
    const float dx = to.x_m - from.x_m;
    const float dy = to.y_m - from.y_m;
    const float length = std::hypot(dx, dy) / spec_.cell_m;
    if (length == 0.0F) return {1.0F, 0.0F};
    return {(cos_ * dx + sin_ * dy) / length, side_ * (cos_ * dy - sin_ * dx) / length};
  }

 private:
  const RasterSpec& spec_;
  double x_m_;
  double y_m_;
  float cos_;
  float sin_;
  float side_;
  float column_;
  float row_;
};

std::uint8_t* Rasteriser::plane(std::span<std::uint8_t> image, Channel channel) const {
  return image.data() + static_cast<std::size_t>(channel) * static_cast<std::size_t>(spec_.rows) *
                            static_cast<std::size_t>(spec_.columns);
}

void Rasteriser::draw(const MapIndex& map, const View& view, bool mirrored,
                      std::span<std::uint8_t> image) {
  TRAFFIC_CHECK(image.size() == spec_.num_bytes(), "the image has room for {} bytes, expected {}",
                image.size(), spec_.num_bytes());
  std::memset(image.data(), 0, image.size());
  const Frame frame(spec_, view.ego[0].pose, mirrored);
  near_.clear();
  const Point middle = frame.middle();
  map.find_near(middle.x_m, middle.y_m, frame.radius_m(), near_);
  seen_.resize(std::max(seen_.size(), map.strips().size()));
  ++image_number_;
  std::erase_if(near_, [&](std::int32_t strip) {
    std::uint32_t& last = seen_[static_cast<std::size_t>(strip)];
    return std::exchange(last, image_number_) == image_number_;
  });
  draw_lanes(map, frame, image);
  draw_route(map, view, frame, image);
  draw_lights(map, view, frame, image);
  draw_vehicles(view, frame, image);
}

void Rasteriser::draw_lanes(const MapIndex& map, const Frame& frame,
                            std::span<std::uint8_t> image) {
  std::uint8_t* drivable = plane(image, kDrivable);
  for (const std::int32_t s : near_) {
    frame.fill(map, map.strips()[static_cast<std::size_t>(s)], 255, drivable);
  }
  if (spec_.channels <= kCentreLine) return;
  constexpr float kHalfLine_m = 0.3F;
  for (const std::int32_t s : near_) {
    const LaneStrip& strip = map.strips()[static_cast<std::size_t>(s)];
    const auto lane = static_cast<std::size_t>(strip.lane);
    frame.fill(map, strip, speed_value(map.map().speed_limit_mps[lane]), plane(image, kSpeedLimit));
    const float share = 2.0F * kHalfLine_m / map.map().width_m[lane];
    const auto beside = [&](std::size_t i, float side) {
      const Point& left = map.left()[i];
      const Point& right = map.right()[i];
      const float at = 0.5F + 0.5F * side * share;
      return frame.cell({std::lerp(right.x_m, left.x_m, at), std::lerp(right.y_m, left.y_m, at)});
    };
    const auto first = static_cast<std::size_t>(strip.first_point);
    for (std::size_t i = first; i + 1 < first + static_cast<std::size_t>(strip.num_points); ++i) {
      const Point direction = frame.direction(map.map().points[i], map.map().points[i + 1]);
      const std::array quad{frame.cell(map.left()[i]), frame.cell(map.left()[i + 1]),
                            frame.cell(map.right()[i + 1]), frame.cell(map.right()[i])};
      frame.fill(quad, direction_value(direction.x_m), plane(image, kAlong));
      frame.fill(quad, direction_value(direction.y_m), plane(image, kAcross));
      frame.fill(std::array{beside(i, 1), beside(i + 1, 1), beside(i + 1, -1), beside(i, -1)}, 255,
                 plane(image, kCentreLine));
    }
  }
}

void Rasteriser::draw_route(const MapIndex& map, const View& view, const Frame& frame,
                            std::span<std::uint8_t> image) {
  std::uint8_t* route = plane(image, kRoute);
  const std::size_t edges = std::min(view.route.size(), kRouteEdges);
  const RoadMap& roads = map.map();
  const auto draw_lane = [&](std::int32_t lane, std::uint8_t value) {
    for (const LaneStrip& strip : map.strips_of_lane(lane)) frame.fill(map, strip, value, route);
  };
  const auto follows = [&](std::int32_t link, std::size_t edge) {
    const auto to = static_cast<std::size_t>(roads.links[static_cast<std::size_t>(link)].to_lane);
    return edge + 1 < view.route.size() && roads.edge[to] == view.route[edge + 1];
  };
  // Draws lanes that do not lead along the route first, so that they do not cover lanes that do.
  for (const bool leads_on : {false, true}) {
    for (std::size_t e = 0; e < edges; ++e) {
      for (const std::int32_t lane : map.lanes_of_edge(view.route[e])) {
        bool leads = e + 1 == view.route.size();
        for (const std::int32_t link : map.links_from(lane)) leads = leads || follows(link, e);
        if (leads != leads_on) continue;
        draw_lane(lane, leads ? 255 : 128);
        for (const std::int32_t link : map.links_from(lane)) {
          const std::int32_t connector = roads.links[static_cast<std::size_t>(link)].connector;
          if (connector >= 0 && e + 1 < edges && follows(link, e)) draw_lane(connector, 255);
        }
      }
    }
  }
}

void Rasteriser::draw_lights(const MapIndex& map, const View& view, const Frame& frame,
                             std::span<std::uint8_t> image) {
  const RoadMap& roads = map.map();
  lights_.clear();
  for (const std::int32_t s : near_) {
    const std::int32_t index = map.link_over(map.strips()[static_cast<std::size_t>(s)].lane);
    if (index < 0) continue;
    const Link& link = roads.links[static_cast<std::size_t>(index)];
    if (link.signal < 0 || static_cast<std::size_t>(link.signal) >= view.signals.size()) continue;
    const std::uint8_t letter = view.signals[static_cast<std::size_t>(link.signal)];
    if (!shows_red(letter) && !shows_yellow(letter)) continue;
    const std::int32_t from = roads.edge[static_cast<std::size_t>(link.from_lane)];
    const std::int32_t to = roads.edge[static_cast<std::size_t>(link.to_lane)];
    bool on_route = false;
    for (std::size_t e = 0; e + 1 < std::min(view.route.size(), kRouteEdges + 1); ++e) {
      on_route = on_route || (view.route[e] == from && view.route[e + 1] == to);
    }
    if (!on_route && shows_yellow(letter)) continue;
    lights_.push_back(
        {on_route ? (shows_red(letter) ? kRedOnRoute : kYellowOnRoute) : kRedElsewhere, s});
  }
  for (const std::uint8_t value : {kRedElsewhere, kYellowOnRoute, kRedOnRoute}) {
    for (const Light& light : lights_) {
      if (light.value != value) continue;
      frame.fill(map, map.strips()[static_cast<std::size_t>(light.strip)], value,
                 plane(image, kRed));
    }
  }
}

void Rasteriser::draw_vehicles(const View& view, const Frame& frame,
                               std::span<std::uint8_t> image) const {
  for (std::size_t t = 0; t < kHistory; ++t) {
    std::uint8_t* vehicles = plane(image, static_cast<Channel>(kVehicles + t));
    for (const Box& box : view.others[t]) frame.fill(box, 255, vehicles);
  }
  for (const Box& box : view.others[0]) {
    frame.fill(box, speed_value(box.speed_mps), plane(image, kSpeed));
  }
}

}  // namespace traffic::driving
