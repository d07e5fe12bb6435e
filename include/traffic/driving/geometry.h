/// Converts positions between the map and the frame of a vehicle (its own coordinate system), and
/// tests whether vehicles overlap.
#pragma once

#include <array>

#include "traffic/driving/driver.h"

namespace traffic::driving {

/// The same angle in (-pi, pi].
[[nodiscard]] double wrapped_rad(double angle_rad);

/// Converts a position on the map to the frame of a pose: x is ahead of it, y to its left.
[[nodiscard]] Point to_frame(const Pose& frame, double x_m, double y_m);
/// The inverse of to_frame().
[[nodiscard]] Point from_frame(const Pose& frame, Point seen);

/// The corners in order: front left, rear left, rear right, front right.
[[nodiscard]] std::array<Point, 4> corners(const Box& box);

/// The vehicle some seconds later if it keeps speed and direction.
[[nodiscard]] Box moved_on(const Box& box, double seconds);

/// Whether the rectangles of two vehicles overlap.
[[nodiscard]] bool overlap(const Box& a, const Box& b);

}  // namespace traffic::driving
