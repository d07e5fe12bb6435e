/// Routes, measures and scores of a drive over a crossing.
#include "traffic/driving/drive_measures.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "crossing.h"
#include "traffic/driving/route_tracker.h"

namespace traffic::driving {
namespace {

constexpr double kMeterStep_s = 0.1;

std::int32_t edge(const RoadMap& map, const std::string& name) {
  return static_cast<std::int32_t>(std::ranges::find(map.edges, name) - map.edges.begin());
}

class DriveMeasuresTest : public ::testing::Test {
 protected:
  /// Drives straight over the crossing from the west, on the right lane.
  struct Drive {
    DriveMeter meter;
    Box ego;
  };
  Drive begin(double x_m, double speed_mps) {
    const Box ego{.pose = {.x_m = x_m, .y_m = -4.8},
                  .length_m = 5.0F,
                  .width_m = 1.8F,
                  .speed_mps = static_cast<float>(speed_mps)};
    return {DriveMeter(roads_, route_, ego), ego};
  }
  void drive(Drive& drive, double seconds, const std::vector<Neighbour>& near = {}) {
    for (int step = 0; step < std::lround(seconds / kMeterStep_s); ++step) {
      drive.ego.pose.x_m +=
          kMeterStep_s * drive.ego.speed_mps * std::cos(drive.ego.pose.heading_rad);
      drive.ego.pose.y_m +=
          kMeterStep_s * drive.ego.speed_mps * std::sin(drive.ego.pose.heading_rad);
      drive.meter.step(kMeterStep_s, drive.ego, near, signals_);
    }
  }
  static Box car(double x_m, double y_m, double heading_rad, double speed_mps) {
    return {.pose = {x_m, y_m, heading_rad},
            .length_m = 5.0F,
            .width_m = 1.8F,
            .speed_mps = static_cast<float>(speed_mps)};
  }

  std::shared_ptr<const RoadMap> map_ = testing::crossing();
  RoadIndex roads_{map_};
  std::vector<std::int32_t> route_{edge(*map_, "in0"), edge(*map_, "out2")};
  std::vector<std::uint8_t> signals_ = std::vector<std::uint8_t>(map_->signals.size(), 'G');
};

TEST_F(DriveMeasuresTest, ProgressIsMeasuredAlongTheRoute) {
  RouteTracker tracker(roads_, route_);
  tracker.update(-100.0, -4.0);
  EXPECT_NEAR(tracker.progress_m(), 0.0, 1e-9);
  EXPECT_EQ(tracker.ahead().size(), 2U);
  EXPECT_NEAR(tracker.place().to_left_m, 0.8, 1e-5);
  tracker.update(-60.0, -5.0);
  EXPECT_NEAR(tracker.progress_m(), 40.0, 1e-4);
  tracker.update(-70.0, -5.0);
  EXPECT_NEAR(tracker.progress_m(), 40.0, 1e-4) << "going back must not change the progress";
  tracker.update(0.0, -3.2);
  EXPECT_EQ(tracker.ahead().size(), 2U)
      << "in the junction the vehicle still counts as on the edge that leads there";
  tracker.update(50.0, -1.6);
  EXPECT_EQ(tracker.ahead().size(), 1U);
  const double over_m = roads_.length_m(roads_.junction_lanes(route_[0], route_[1]).front().lane);
  EXPECT_NEAR(tracker.progress_m(), 88.0 + over_m + 38.0, 1e-3);
}

TEST_F(DriveMeasuresTest, ADriveWithoutFaultsHasTheFullScore) {
  Drive one = begin(-100.0, 10.0);
  drive(one, 5.0);
  const DriveMeasures& measures = one.meter.measures();
  EXPECT_NEAR(measures.seconds, 5.0, 1e-9);
  EXPECT_NEAR(measures.driven_m, 50.0, 1e-6);
  EXPECT_NEAR(measures.progress_m, 50.0, 1e-3);
  EXPECT_DOUBLE_EQ(measures.off_lane_s, 0.0);
  EXPECT_DOUBLE_EQ(measures.uncomfortable_s, 0.0);
  EXPECT_DOUBLE_EQ(drive_score(measures, 50.0), 1.0);
  EXPECT_NEAR(drive_score(measures, 100.0), (5.0 + 2.5 + 2.0) / 12.0, 1e-5);
}

TEST_F(DriveMeasuresTest, AStopLineAtRedIsCountedOnce) {
  std::ranges::fill(signals_, 'r');
  Drive one = begin(-30.0, 10.0);
  drive(one, 1.5);
  EXPECT_EQ(one.meter.measures().red_lights, 0)
      << "the front is at -12.5 m, before the stop line at -12 m";
  drive(one, 1.0);
  EXPECT_EQ(one.meter.measures().red_lights, 1);
  EXPECT_DOUBLE_EQ(drive_score(one.meter.measures(), 10.0), 0.0);
  for (const char letter : {'G', 'g', 'y'}) {
    std::ranges::fill(signals_, static_cast<std::uint8_t>(letter));
    Drive other = begin(-30.0, 10.0);
    drive(other, 2.5);
    EXPECT_EQ(other.meter.measures().red_lights, 0) << letter;
  }
}

TEST_F(DriveMeasuresTest, DrivingBesideTheRoadOrAgainstItsDirectionIsOffLane) {
  Drive beside = begin(-100.0, 5.0);
  beside.ego.pose.y_m = -7.0;
  drive(beside, 2.0);
  EXPECT_NEAR(beside.meter.measures().off_lane_s, 2.0, 1e-9);
  EXPECT_DOUBLE_EQ(drive_score(beside.meter.measures(), 10.0), 0.0);
  Drive against = begin(-100.0, 5.0);
  against.ego.pose.y_m = 1.6;  // vehicles drive west there
  drive(against, 2.0);
  EXPECT_NEAR(against.meter.measures().off_lane_s, 2.0, 1e-9);
}

TEST_F(DriveMeasuresTest, ADriverIsAtFaultForWhatItHitsAndNotForWhatHitsIt) {
  Drive hits = begin(-100.0, 10.0);
  drive(hits, 2.0, {{.id = 1, .box = car(-80.0, -4.8, 0.0, 0.0)}});
  EXPECT_EQ(hits.meter.measures().collisions, 1) << "a collision of the same pair must count once";
  EXPECT_EQ(hits.meter.measures().faults, 1);

  Drive is_hit = begin(-100.0, 5.0);
  drive(is_hit, 0.1, {{.id = 1, .box = car(-106.0, -4.8, 0.0, 15.0)}});
  drive(is_hit, 0.1, {{.id = 1, .box = car(-103.5, -4.8, 0.0, 15.0)}});
  EXPECT_EQ(is_hit.meter.measures().collisions, 1);
  EXPECT_EQ(is_hit.meter.measures().faults, 0);

  Drive stands = begin(-100.0, 0.0);
  drive(stands, 0.1, {});
  drive(stands, 0.1, {{.id = 1, .box = car(-96.0, -4.8, std::numbers::pi, 5.0)}});
  EXPECT_EQ(stands.meter.measures().collisions, 1);
  EXPECT_EQ(stands.meter.measures().faults, 0);
}

TEST_F(DriveMeasuresTest, AVehicleThatOverlapsFromTheBeginIsNoCollision) {
  Drive one = begin(-100.0, 5.0);
  drive(one, 1.0, {{.id = 1, .box = car(-98.0, -4.8, 0.0, 5.0)}});
  EXPECT_EQ(one.meter.measures().collisions, 0);
}

TEST_F(DriveMeasuresTest, AVehicleAheadWithinASecondIsClose) {
  Drive one = begin(-100.0, 10.0);
  drive(one, 0.5, {{.id = 1, .box = car(-84.0, -4.8, 0.0, 0.0)}});
  EXPECT_DOUBLE_EQ(one.meter.measures().close_s, 0.5)
      << "at 10 m/s a gap of 6 m is less than a second";
  Drive other = begin(-100.0, 10.0);
  drive(other, 0.5, {{.id = 1, .box = car(-84.0, -4.8, 0.0, 9.0)}});
  EXPECT_DOUBLE_EQ(other.meter.measures().close_s, 0.0) << "the vehicle ahead drives away at 9 m/s";
}

TEST_F(DriveMeasuresTest, HardBrakingIsUncomfortable) {
  Drive one = begin(-100.0, 10.0);
  drive(one, 0.5);
  one.ego.speed_mps = 7.5F;  // 5 m/s2 over a frame
  drive(one, 0.5);
  EXPECT_DOUBLE_EQ(one.meter.measures().uncomfortable_s, 0.5);
}

}  // namespace
}  // namespace traffic::driving
