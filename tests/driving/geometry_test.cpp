/// Frames of vehicles and overlapping rectangles.
#include "traffic/driving/geometry.h"

#include <cmath>
#include <numbers>

namespace traffic::driving {
namespace {

constexpr double kPi = std::numbers::pi;

TEST(DrivingGeometry, AnglesStayWithinHalfATurn) {
  EXPECT_NEAR(wrapped_rad(1.5 * kPi), -0.5 * kPi, 1e-12);
  EXPECT_NEAR(wrapped_rad(-7.0), -7.0 + 2.0 * kPi, 1e-12);
  EXPECT_DOUBLE_EQ(wrapped_rad(kPi), kPi);
}

TEST(DrivingGeometry, AFrameSeesWhatIsAheadAndToTheLeft) {
  const Pose north{.x_m = 10.0, .y_m = 20.0, .heading_rad = kPi / 2.0};
  const Point ahead = to_frame(north, 10.0, 25.0);
  EXPECT_NEAR(ahead.x_m, 5.0, 1e-5);
  EXPECT_NEAR(ahead.y_m, 0.0, 1e-5);
  const Point left = to_frame(north, 7.0, 20.0);
  EXPECT_NEAR(left.x_m, 0.0, 1e-5);
  EXPECT_NEAR(left.y_m, 3.0, 1e-5);
  const Point back = from_frame(north, {.x_m = 5.0F, .y_m = 3.0F});
  EXPECT_NEAR(back.x_m, 7.0, 1e-5);
  EXPECT_NEAR(back.y_m, 25.0, 1e-5);
}

TEST(DrivingGeometry, RectanglesOverlapWhereNoSideSeparatesThem) {
  const Box car{.pose = {}, .length_m = 4.0F, .width_m = 2.0F};
  const auto at = [](double x_m, double y_m, double heading_rad) {
    return Box{.pose = {x_m, y_m, heading_rad}, .length_m = 4.0F, .width_m = 2.0F};
  };
  EXPECT_TRUE(overlap(car, at(3.9, 0.0, 0.0)));
  EXPECT_FALSE(overlap(car, at(4.1, 0.0, 0.0)));
  EXPECT_FALSE(overlap(car, at(0.0, 2.1, 0.0)));
  EXPECT_TRUE(overlap(car, at(0.0, 2.9, kPi / 2.0)))
      << "the front of the vehicle across is 0.9 m from the axis of the car, so they overlap";
  // The bounding boxes of the two overlap, but the rectangles do not: one of them is turned by 45
  // degrees.
  EXPECT_FALSE(overlap(car, at(3.9, 2.4, -kPi / 4.0)));
  EXPECT_TRUE(overlap(at(3.0, 1.2, kPi / 4.0), car)) << "the order of the two must not matter";
}

}  // namespace
}  // namespace traffic::driving
