/// Compares the rasteriser's images of the scene from above with those of a plain implementation,
/// which tests for every cell and every shape whether the cell lies in the shape.
#include "traffic/driving/raster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "crossing.h"
#include "traffic/core/random.h"
#include "traffic/driving/geometry.h"

namespace traffic::driving {
namespace {

/// Distance by which a position lies inside a convex polygon; negative outside.
double depth(const std::array<Point, 4>& polygon, double x, double y) {
  double area = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    const Point& a = polygon[i];
    const Point& b = polygon[(i + 1) % 4];
    area += static_cast<double>(a.x_m) * b.y_m - static_cast<double>(b.x_m) * a.y_m;
  }
  double least = INFINITY;
  for (std::size_t i = 0; i < 4; ++i) {
    const Point& a = polygon[i];
    const Point& b = polygon[(i + 1) % 4];
    const double dx = b.x_m - a.x_m;
    const double dy = b.y_m - a.y_m;
    const double cross = dx * (y - a.y_m) - dy * (x - a.x_m);
    const double length = std::hypot(dx, dy);
    if (length > 0.0) least = std::min(least, (area > 0.0 ? cross : -cross) / length);
  }
  return least;
}

/// An image in which each cell has the value of the last shape that contains the cell's centre. If
/// the centre is on the border of a shape, the cell is not compared.
class PlainImage {
 public:
  PlainImage(const RasterSpec& spec, const Pose& pose, bool mirrored)
      : spec_(spec),
        pose_(pose),
        mirrored_(mirrored),
        values_(spec.num_bytes(), 0),
        either_(spec.num_bytes(), false) {}

  void fill(Channel channel, const std::array<Point, 4>& polygon, std::uint8_t value) {
    if (channel >= spec_.channels) return;
    const double c = std::cos(pose_.heading_rad);
    const double s = std::sin(pose_.heading_rad);
    const auto [west, east] =
        std::minmax({polygon[0].x_m, polygon[1].x_m, polygon[2].x_m, polygon[3].x_m});
    const auto [south, north] =
        std::minmax({polygon[0].y_m, polygon[1].y_m, polygon[2].y_m, polygon[3].y_m});
    for (int row = 0; row < spec_.rows; ++row) {
      for (int column = 0; column < spec_.columns; ++column) {
        const double ahead = (column + 0.5) * spec_.cell_m - spec_.behind_m;
        const double left = (row + 0.5 - spec_.rows / 2.0) * spec_.cell_m * (mirrored_ ? -1 : 1);
        const double x = pose_.x_m + c * ahead - s * left;
        const double y = pose_.y_m + s * ahead + c * left;
        if (x < west - 1.0 || x > east + 1.0 || y < south - 1.0 || y > north + 1.0) continue;
        const double inside = depth(polygon, x, y);
        const std::size_t cell = (static_cast<std::size_t>(channel * spec_.rows + row)) *
                                     static_cast<std::size_t>(spec_.columns) +
                                 static_cast<std::size_t>(column);
        constexpr double kBorder_m = 2e-3;  // rounding of float coordinates of some hundred metres
        if (std::abs(inside) < kBorder_m) either_[cell] = true;
        if (inside >= kBorder_m) values_[cell] = value;
      }
    }
  }
  void fill_lane(const MapIndex& map, Channel channel, std::int32_t lane, std::uint8_t value) {
    const RoadMap& roads = map.map();
    const auto first = static_cast<std::size_t>(roads.lane_begin[static_cast<std::size_t>(lane)]);
    const auto end = static_cast<std::size_t>(roads.lane_begin[static_cast<std::size_t>(lane) + 1]);
    for (std::size_t i = first; i + 1 < end; ++i) {
      fill(channel, {map.left()[i], map.left()[i + 1], map.right()[i + 1], map.right()[i]}, value);
    }
  }

  void expect_equals(std::span<const std::uint8_t> image) const {
    std::size_t different = 0, on_border = 0, filled = 0;
    for (std::size_t i = 0; i < image.size(); ++i) {
      filled += values_[i] != 0 ? 1 : 0;
      on_border += either_[i] ? 1 : 0;
      if (!either_[i] && image[i] != values_[i]) ++different;
    }
    EXPECT_EQ(different, 0U);
    EXPECT_LT(on_border, image.size() / 50) << "the comparison must see nearly all cells";
    EXPECT_GT(filled, image.size() / 100);
  }

 private:
  RasterSpec spec_;
  Pose pose_;
  bool mirrored_;
  std::vector<std::uint8_t> values_;
  std::vector<bool> either_;
};

std::uint8_t byte_of_speed(double mps) {
  return static_cast<std::uint8_t>(std::lround(255.0 * std::min(1.0, mps / 40.0)));
}

void draw_lights_plainly(const MapIndex& map, const View& view, PlainImage& image) {
  const RoadMap& roads = map.map();
  for (const int wanted : {64, 192, 255}) {
    for (const Link& link : roads.links) {
      const char letter = static_cast<char>(view.signals[static_cast<std::size_t>(link.signal)]);
      const bool red = letter == 'r' || letter == 'u';
      bool mine = false;
      for (std::size_t e = 0; e + 1 < view.route.size(); ++e) {
        mine = mine || (roads.edge[static_cast<std::size_t>(link.from_lane)] == view.route[e] &&
                        roads.edge[static_cast<std::size_t>(link.to_lane)] == view.route[e + 1]);
      }
      const int value = red ? (mine ? 255 : 64) : (letter == 'y' && mine ? 192 : 0);
      if (value == wanted) {
        image.fill_lane(map, kRed, link.connector, static_cast<std::uint8_t>(value));
      }
    }
  }
}

void draw_route_plainly(const MapIndex& map, const View& view, PlainImage& image) {
  const RoadMap& roads = map.map();
  for (const bool leads_on : {false, true}) {
    for (std::size_t e = 0; e < view.route.size(); ++e) {
      for (std::size_t lane = 0; lane < roads.num_lanes(); ++lane) {
        if (roads.edge[lane] != view.route[e]) continue;
        bool leads = e + 1 == view.route.size();
        for (const Link& link : roads.links) {
          const bool mine = static_cast<std::size_t>(link.from_lane) == lane &&
                            e + 1 < view.route.size() &&
                            roads.edge[static_cast<std::size_t>(link.to_lane)] == view.route[e + 1];
          leads = leads || mine;
          if (mine && leads_on) image.fill_lane(map, kRoute, link.connector, 255);
        }
        if (leads == leads_on) {
          image.fill_lane(map, kRoute, static_cast<std::int32_t>(lane), leads ? 255 : 128);
        }
      }
    }
  }
}

PlainImage draw_plainly(const RasterSpec& spec, const MapIndex& map, const View& view,
                        bool mirrored) {
  const RoadMap& roads = map.map();
  PlainImage image(spec, view.ego[0].pose, mirrored);
  for (std::size_t lane = 0; lane < roads.num_lanes(); ++lane) {
    image.fill_lane(map, kDrivable, static_cast<std::int32_t>(lane), 255);
    image.fill_lane(map, kSpeedLimit, static_cast<std::int32_t>(lane),
                    byte_of_speed(roads.speed_limit_mps[lane]));
  }
  draw_route_plainly(map, view, image);
  draw_lights_plainly(map, view, image);
  for (std::size_t t = 0; t < kHistory; ++t) {
    for (const Box& box : view.others[t]) {
      image.fill(static_cast<Channel>(kVehicles + t), corners(box), 255);
      if (t == 0) image.fill(kSpeed, corners(box), byte_of_speed(box.speed_mps));
    }
  }
  return image;
}

/// What a random vehicle of the scene sees, from a pose near its own.
struct SeenView {
  View view;
  std::array<std::vector<Box>, kHistory> others;
  std::vector<std::int32_t> route;
};

SeenView random_view(const RecordedScene& scene, Rng& rng) {
  SeenView seen;
  const std::size_t frame = 3 + rng.uniform_int(scene.num_frames() - 3);
  const auto nodes = scene.frame(frame);
  const SceneNode ego = nodes[rng.uniform_int(nodes.size())];
  const auto box_of = [&](const SceneNode& node) {
    const SceneVehicle& vehicle = scene.vehicles[static_cast<std::size_t>(node.vehicle)];
    return Box{.pose = {node.x_m, node.y_m, node.heading_rad},
               .length_m = vehicle.length_m,
               .width_m = vehicle.width_m,
               .speed_mps = node.speed_mps};
  };
  seen.view.map = scene.map.get();
  seen.view.ego.fill(box_of(ego));
  seen.view.ego[0].pose.x_m += rng.uniform(-3.0, 3.0);
  seen.view.ego[0].pose.heading_rad += rng.uniform(-0.5, 0.5);
  for (std::size_t t = 0; t < kHistory; ++t) {
    for (const SceneNode& node : scene.frame(frame - t)) {
      if (node.vehicle != ego.vehicle) seen.others[t].push_back(box_of(node));
    }
    seen.view.others[t] = seen.others[t];
  }
  seen.view.route = scene.route(static_cast<std::size_t>(ego.route));
  seen.view.signals = std::span(scene.signals)
                          .subspan(frame * scene.map->signals.size(), scene.map->signals.size());
  return seen;
}

void compare_with_plain(const RasterSpec& spec, int views) {
  const RecordedScene scene = testing::crossing_scene(3);
  const MapIndex map(scene.map);
  Rasteriser raster(spec);
  std::vector<std::uint8_t> image(spec.num_bytes());
  Rng rng(11);
  for (int i = 0; i < views; ++i) {
    const SeenView seen = random_view(scene, rng);
    const bool mirrored = i % 2 == 1;
    raster.draw(map, seen.view, mirrored, image);
    // The plain implementation does not know centre lines and directions.
    RasterSpec compared = spec;
    compared.channels = std::min(compared.channels, static_cast<std::int32_t>(kCentreLine));
    const PlainImage plain = draw_plainly(compared, map, seen.view, mirrored);
    plain.expect_equals(std::span(image).first(compared.num_bytes()));
  }
}

TEST(Raster, SmallImagesEqualThePlainImplementation) { compare_with_plain(kSmallRaster, 8); }
TEST(Raster, FullImagesEqualThePlainImplementation) { compare_with_plain(kFullRaster, 2); }

std::uint8_t cell(std::span<const std::uint8_t> image, const RasterSpec& spec, Channel channel,
                  double ahead_m, double left_m) {
  const auto column = static_cast<std::size_t>((ahead_m + spec.behind_m) / spec.cell_m);
  const auto row =
      static_cast<std::size_t>(left_m / spec.cell_m + static_cast<double>(spec.rows) / 2.0);
  return image[(static_cast<std::size_t>(channel) * static_cast<std::size_t>(spec.rows) + row) *
                   static_cast<std::size_t>(spec.columns) +
               column];
}

TEST(Raster, FullImagesShowLimitsDirectionsAndCentreLines) {
  const auto roads = testing::crossing();
  const MapIndex map(roads);
  View view;
  view.map = roads.get();
  view.ego[0].pose = {.x_m = -60.0, .y_m = -4.8, .heading_rad = 0.0};
  Rasteriser raster(kFullRaster);
  std::vector<std::uint8_t> image(kFullRaster.num_bytes());
  raster.draw(map, view, false, image);
  const auto at = [&](Channel channel, double ahead_m, double left_m) {
    return static_cast<int>(cell(image, kFullRaster, channel, ahead_m, left_m));
  };
  EXPECT_EQ(at(kSpeedLimit, 10.0, 0.2), std::lround(255.0 * 13.9 / 40.0));
  EXPECT_EQ(at(kAlong, 10.0, 0.2), 255) << "255: the vehicle's own lane leads ahead";
  EXPECT_EQ(at(kAcross, 10.0, 0.2), 128);
  EXPECT_EQ(at(kAlong, 10.0, 6.2), 1) << "1: the lane of the other direction leads back";
  EXPECT_EQ(at(kCentreLine, 10.0, 0.2), 255);
  EXPECT_EQ(at(kCentreLine, 10.0, 1.2), 0);
  EXPECT_EQ(at(kDrivable, 10.0, 12.2), 0) << "0: the place is beside the road";
}

TEST(Raster, AnImageDoesNotDependOnTheImagesDrawnBefore) {
  const RecordedScene scene = testing::crossing_scene(5);
  const MapIndex map(scene.map);
  Rng rng(2);
  const SeenView first = random_view(scene, rng);
  const SeenView second = random_view(scene, rng);
  std::vector<std::uint8_t> once(kSmallRaster.num_bytes()), again(kSmallRaster.num_bytes());
  Rasteriser raster(kSmallRaster);
  raster.draw(map, first.view, false, once);
  raster.draw(map, second.view, true, again);
  raster.draw(map, first.view, false, again);
  EXPECT_EQ(once, again);
}

TEST(Raster, AnImageOfAnotherSizeIsRefused) {
  const RecordedScene scene = testing::crossing_scene(5);
  const MapIndex map(scene.map);
  Rng rng(2);
  const SeenView seen = random_view(scene, rng);
  std::vector<std::uint8_t> image(kSmallRaster.num_bytes() - 1);
  Rasteriser raster(kSmallRaster);
  EXPECT_ANY_THROW(raster.draw(map, seen.view, false, image));
}

}  // namespace
}  // namespace traffic::driving
