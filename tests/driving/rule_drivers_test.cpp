/// The drivers that follow rules, at a crossing.
#include "traffic/driving/rule_drivers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "crossing.h"
#include "traffic/driving/drive_measures.h"
#include "traffic/driving/geometry.h"
#include "traffic/driving/motion.h"

namespace traffic::driving {
namespace {

class RuleDriversTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::int32_t edge(const std::string& name) const {
    return static_cast<std::int32_t>(std::ranges::find(map_->edges, name) - map_->edges.begin());
  }
  static Box car(double x_m, double y_m, double heading_rad, double speed_mps) {
    return {.pose = {x_m, y_m, heading_rad},
            .length_m = 5.0F,
            .width_m = 1.8F,
            .speed_mps = static_cast<float>(speed_mps)};
  }

  struct End {
    Box ego;
    DriveMeasures measures;
  };
  /// Lets the IDM driver drive from `begin` on. @param others gives the other vehicles at a time
  End drive(const Box& begin, const std::vector<std::int32_t>& route, double seconds,
            const std::function<std::vector<Box>(double time_s)>& others = {}) {
    IdmDriver driver;
    PlanFollower follower(begin);
    DriveMeter meter(roads_, route, begin);
    Box ego = begin;
    for (int frame = 0; frame < std::lround(seconds / kFrame_s); ++frame) {
      const std::vector<Box> now = others ? others(kFrame_s * frame) : std::vector<Box>{};
      View view{.map = map_.get(),
                .ego = {},
                .others = {},
                .route = meter.route().ahead(),
                .signals = signals_};
      view.ego.fill(ego);
      view.others.fill(now);
      follower.follow(driver.plan(std::vector{view}).front());
      std::vector<Neighbour> near;
      for (const Box& other : now) {
        near.push_back({.id = static_cast<std::uint32_t>(near.size()), .box = other});
      }
      for (int step = 0; step < 5; ++step) {
        follower.step(0.1);
        ego.pose = follower.motion().pose;
        ego.speed_mps = static_cast<float>(follower.motion().speed_mps);
        meter.step(0.1, ego, near, signals_);
      }
    }
    return {ego, meter.measures()};
  }

  std::shared_ptr<const RoadMap> map_ = testing::crossing();
  RoadIndex roads_{map_};
  std::vector<std::uint8_t> signals_ = std::vector<std::uint8_t>(map_->signals.size(), 'G');
};

TEST_F(RuleDriversTest, ConstantVelocityPlansAStraightLine) {
  View view{.map = map_.get(), .ego = {}, .others = {}, .route = {}, .signals = {}};
  view.ego.fill(car(0.0, 0.0, 1.0, 8.0));
  ConstantVelocityDriver driver;
  const Plan plan = driver.plan(std::vector{view}).front();
  EXPECT_FLOAT_EQ(plan.points[0].x_m, 4.0F);
  EXPECT_FLOAT_EQ(plan.points[5].x_m, 24.0F);
  EXPECT_FLOAT_EQ(plan.points[5].y_m, 0.0F);
}

TEST_F(RuleDriversTest, IdmDrivesOverTheCrossingOnEveryRoute) {
  struct Case {
    const char* to;
    double y_m;          ///< of the lane that leads to this edge
    double heading_rad;  ///< at the end
  };
  for (const Case& one : {Case{"out1", -4.8, -std::numbers::pi / 2.0}, Case{"out2", -4.8, 0.0},
                          Case{"out3", -1.6, std::numbers::pi / 2.0}}) {
    const End end = drive(car(-80.0, one.y_m, 0.0, 8.0), {edge("in0"), edge(one.to)}, 15.0);
    EXPECT_GT(end.measures.progress_m, 85.0) << one.to;
    EXPECT_NEAR(wrapped_rad(end.ego.pose.heading_rad - one.heading_rad), 0.0, 0.05) << one.to;
    EXPECT_DOUBLE_EQ(end.measures.off_lane_s, 0.0) << one.to;
    EXPECT_DOUBLE_EQ(end.measures.uncomfortable_s, 0.0) << one.to;
  }
}

TEST_F(RuleDriversTest, IdmChangesToTheLaneThatItsRouteNeeds) {
  // Only the left lane leads to the left.
  const End end = drive(car(-130.0, -4.8, 0.0, 8.0), {edge("in0"), edge("out3")}, 18.0);
  EXPECT_NEAR(end.ego.pose.heading_rad, std::numbers::pi / 2.0, 0.05);
  EXPECT_DOUBLE_EQ(end.measures.off_lane_s, 0.0);
}

TEST_F(RuleDriversTest, IdmWaitsAtTheEndOfItsLaneWhileTheOtherLaneIsFull) {
  const auto queue = [](double) {
    std::vector<Box> cars;
    for (double x_m = -120.0; x_m < -12.0; x_m += 7.0) cars.push_back(car(x_m, -1.6, 0.0, 0.0));
    return cars;
  };
  const End end = drive(car(-100.0, -4.8, 0.0, 8.0), {edge("in0"), edge("out3")}, 25.0, queue);
  EXPECT_LT(end.ego.speed_mps, 0.01F);
  EXPECT_LT(end.ego.pose.x_m, -12.0);
  EXPECT_EQ(end.measures.collisions, 0);
}

TEST_F(RuleDriversTest, IdmStopsBeforeARedLight) {
  std::ranges::fill(signals_, 'r');
  const End end = drive(car(-80.0, -4.8, 0.0, 12.0), {edge("in0"), edge("out2")}, 20.0);
  EXPECT_LT(end.ego.speed_mps, 0.2F);
  EXPECT_LT(end.ego.pose.x_m + 2.5, -12.0) << "the front must stop before the line";
  EXPECT_GT(end.ego.pose.x_m + 2.5, -18.0);
  EXPECT_EQ(end.measures.red_lights, 0);
}

TEST_F(RuleDriversTest, IdmStopsBehindAStandingVehicle) {
  const auto stands = [](double) { return std::vector{car(-30.0, -4.8, 0.0, 0.0)}; };
  const End end = drive(car(-100.0, -4.8, 0.0, 12.0), {edge("in0"), edge("out2")}, 20.0, stands);
  EXPECT_LT(end.ego.speed_mps, 0.2F);
  EXPECT_EQ(end.measures.collisions, 0);
  EXPECT_GT(end.ego.pose.x_m, -42.0) << "the ego must stop no farther from the vehicle than needed";
}

TEST_F(RuleDriversTest, IdmWaitsForAVehicleThatCrossesFirst) {
  // The other vehicle comes from the south and is at the crossing a moment before the ego.
  const auto crosses = [](double time_s) {
    return std::vector{car(4.8, -45.0 + 8.0 * time_s, std::numbers::pi / 2.0, 8.0)};
  };
  const End end = drive(car(-50.0, -4.8, 0.0, 9.0), {edge("in0"), edge("out2")}, 12.0, crosses);
  EXPECT_EQ(end.measures.collisions, 0);
  EXPECT_GT(end.ego.pose.x_m, 10.0) << "the ego must go on after the other vehicle has crossed";
}

}  // namespace
}  // namespace traffic::driving
