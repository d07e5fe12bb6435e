// Converts positions between coordinate systems, and tests whether vehicles overlap.
#include "traffic/driving/geometry.h"

#include <cmath>
#include <numbers>

namespace traffic::driving {
namespace {

/// Whether a line along one of the sides of the rectangle `of` separates it from `other`.
bool side_separates(const Box& of, const Box& other) {
  double least_x = INFINITY, most_x = -INFINITY, least_y = INFINITY, most_y = -INFINITY;
  for (const Point& corner : corners(other)) {
    const Point seen = to_frame(of.pose, corner.x_m, corner.y_m);
    least_x = std::fmin(least_x, seen.x_m);
    most_x = std::fmax(most_x, seen.x_m);
    least_y = std::fmin(least_y, seen.y_m);
    most_y = std::fmax(most_y, seen.y_m);
  }
  const double half_length_m = of.length_m / 2.0;
  const double half_width_m = of.width_m / 2.0;
  return least_x > half_length_m || most_x < -half_length_m || least_y > half_width_m ||
         most_y < -half_width_m;
}

}  // namespace

double wrapped_rad(double angle_rad) {
  const double wrapped = std::remainder(angle_rad, 2.0 * std::numbers::pi);
  return wrapped > -std::numbers::pi ? wrapped : std::numbers::pi;
}

Point to_frame(const Pose& frame, double x_m, double y_m) {
  const double dx = x_m - frame.x_m;
  const double dy = y_m - frame.y_m;
  const double c = std::cos(frame.heading_rad);
  const double s = std::sin(frame.heading_rad);
  return {static_cast<float>(c * dx + s * dy), static_cast<float>(c * dy - s * dx)};
}

Point from_frame(const Pose& frame, Point seen) {
  const double c = std::cos(frame.heading_rad);
  const double s = std::sin(frame.heading_rad);
  return {static_cast<float>(frame.x_m + c * seen.x_m - s * seen.y_m),
          static_cast<float>(frame.y_m + s * seen.x_m + c * seen.y_m)};
}

std::array<Point, 4> corners(const Box& box) {
  const float half_length_m = box.length_m / 2.0F;
  const float half_width_m = box.width_m / 2.0F;
  return {from_frame(box.pose, {half_length_m, half_width_m}),
          from_frame(box.pose, {-half_length_m, half_width_m}),
          from_frame(box.pose, {-half_length_m, -half_width_m}),
          from_frame(box.pose, {half_length_m, -half_width_m})};
}

Box moved_on(const Box& box, double seconds) {
  Box later = box;
  later.pose.x_m += seconds * box.speed_mps * std::cos(box.pose.heading_rad);
  later.pose.y_m += seconds * box.speed_mps * std::sin(box.pose.heading_rad);
  return later;
}

bool overlap(const Box& a, const Box& b) { return !side_separates(a, b) && !side_separates(b, a); }

}  // namespace traffic::driving
