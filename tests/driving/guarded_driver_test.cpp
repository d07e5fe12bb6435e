/// Guarded plans: they are the plans themselves where the way is clear, and brake where it is not.
#include "traffic/driving/guarded_driver.h"

#include <gtest/gtest.h>

#include <memory>
#include <numbers>
#include <vector>

#include "traffic/driving/rule_drivers.h"

namespace traffic::driving {
namespace {

Box car(double x_m, double y_m, double heading_rad, float speed_mps) {
  return {
      .pose = {x_m, y_m, heading_rad}, .length_m = 5.0F, .width_m = 1.8F, .speed_mps = speed_mps};
}

/// A view that contains only vehicles.
View view_of(const Box& ego, const std::vector<Box>& others) {
  View view{.map = nullptr, .ego = {}, .others = {}, .route = {}, .signals = {}};
  view.ego.fill(ego);
  view.others.fill(others);
  return view;
}

/// The plan of a guarded driver that otherwise keeps speed and direction.
Plan plan_of(const Box& ego, const std::vector<Box>& others) {
  GuardedDriver driver(std::make_unique<ConstantVelocityDriver>());
  return driver.plan(std::vector{view_of(ego, others)}).front();
}

void expect_unchanged(const Plan& plan, float speed_mps) {
  for (std::size_t i = 0; i < kPlanPoints; ++i) {
    EXPECT_FLOAT_EQ(plan.points[i].x_m, 0.5F * speed_mps * static_cast<float>(i + 1));
    EXPECT_FLOAT_EQ(plan.points[i].y_m, 0.0F);
  }
}

TEST(GuardedDriver, KeepsAPlanThatTouchesNobody) {
  const Box ego = car(100.0, 50.0, 0.0, 10.0F);
  expect_unchanged(plan_of(ego, {}), 10.0F);
  // Another lane, a vehicle that follows, a faster one ahead, and one that crosses much later.
  expect_unchanged(
      plan_of(ego, {car(110.0, 53.2, 0.0, 2.0F), car(92.0, 50.0, 0.0, 10.0F),
                    car(108.0, 50.0, 0.0, 12.0F), car(115.0, 10.0, std::numbers::pi / 2.0, 8.0F)}),
      10.0F);
}

TEST(GuardedDriver, StopsBehindAStandingVehicleNoHarderThanNecessary) {
  const Plan plan = plan_of(car(0.0, 0.0, 0.0, 10.0F), {car(28.0, 0.0, 0.0, 0.0F)});
  // The bodies are 23 m apart, a metre stays free, and within the 3 s of the plan 3 m/s2 suffice.
  const float end_m = plan.points.back().x_m;
  EXPECT_LT(end_m, 22.0F);
  EXPECT_NEAR(end_m, 10.0F * 3.0F - 0.5F * 3.0F * 9.0F, 0.1F);
  const Plan hard = plan_of(car(0.0, 0.0, 0.0, 10.0F), {car(13.0, 0.0, 0.0, 0.0F)});
  EXPECT_LT(hard.points.back().x_m, 7.0F);
  EXPECT_GE(hard.points.front().x_m, 0.5F * 10.0F - 0.5F * 8.0F * 0.25F - 0.01F)
      << "the plan must brake no harder than 8 m/s2";
}

TEST(GuardedDriver, LetsAVehiclePassThatCrossesItsWay) {
  // Both would be at (20, 0) after 2 s.
  const Plan plan =
      plan_of(car(0.0, 0.0, 0.0, 10.0F), {car(20.0, -16.0, std::numbers::pi / 2.0, 8.0F)});
  EXPECT_LT(plan.points[3].x_m + 2.5F, 20.0F - 0.9F)
      << "the front must stay before the side of the other vehicle";
  for (const Point& point : plan.points) EXPECT_FLOAT_EQ(point.y_m, 0.0F);
}

TEST(GuardedDriver, MayLeaveAVehicleThatItAlreadyTouches) {
  expect_unchanged(plan_of(car(0.0, 0.0, 0.0, 4.0F), {car(3.0, 1.0, 0.0, 0.0F)}), 4.0F);
}

}  // namespace
}  // namespace traffic::driving
