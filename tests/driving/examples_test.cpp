/// Examples of recorded driving, the route's line and the observation of a vehicle.
#include "traffic/driving/examples.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "crossing.h"
#include "driving/route_line.h"
#include "traffic/driving/geometry.h"
#include "traffic/driving/observation.h"

namespace traffic::driving {
namespace {

/// The first example of a vehicle that drives straight on all the time and has a complete history.
ExamplePlace straight_place(const SceneTracks& tracks) {
  for (const ExamplePlace& place : tracks.places()) {
    const SceneNode* now = tracks.find(place.frame, place.vehicle);
    const SceneNode* then =
        tracks.find(place.frame + static_cast<std::int64_t>(kPlanPoints), place.vehicle);
    if (tracks.find(place.frame - 3, place.vehicle) != nullptr && now->lane == then->lane &&
        std::abs(now->y_m + 4.8F) < 0.1F && now->speed_mps > 6.0F) {
      return place;
    }
  }
  ADD_FAILURE() << "the scene has no vehicle that drives straight on";
  return {};
}

TEST(RouteLine, FollowsTheLanesOfTheRouteToTheStopLineAndBeyond) {
  const auto roads = testing::crossing();
  const MapIndex map(roads);
  // From the west straight on to the east: arm 0 to arm 2.
  const std::vector<std::int32_t> route{0, 5};
  const RouteLine line =
      follow_route(map, route, {.x_m = -52.0, .y_m = -4.5, .heading_rad = 0.1}, 90.0F);
  EXPECT_NEAR(line.points.front().x_m, -52.0F, 0.01F);
  EXPECT_NEAR(line.points.front().y_m, -4.8F, 0.01F);
  EXPECT_NEAR(line.stop_m, 40.0F, 0.1F);
  ASSERT_GE(line.signal, 0);
  EXPECT_NEAR(line.points.back().y_m, -1.6F, 0.5F)
      << "the line must end on the way out on the other side";
  EXPECT_GT(line.points.back().x_m, 12.0F);
  EXPECT_FLOAT_EQ(line.speed_limit_mps, 13.9F);
}

TEST(RouteLine, LeadsStraightAheadWhereNoLaneIsNear) {
  const auto roads = testing::crossing();
  const MapIndex map(roads);
  const RouteLine line = follow_route(
      map, {}, {.x_m = 500.0, .y_m = 500.0, .heading_rad = std::numbers::pi / 2.0}, 30.0F);
  ASSERT_EQ(line.points.size(), 2U);
  EXPECT_NEAR(line.points[1].x_m, 500.0F, 1e-3F);
  EXPECT_NEAR(line.points[1].y_m, 530.0F, 1e-3F);
  EXPECT_EQ(line.signal, -1);
}

TEST(Examples, TheTargetIsTheRecordedWayInTheVehiclesFrame) {
  const SceneTracks tracks(testing::crossing_scene(4));
  ASSERT_GT(tracks.places().size(), 100U);
  Example example;
  for (const ExamplePlace& place : tracks.places()) {
    make_example(tracks, place, {}, example);
    const SceneNode* now = tracks.find(place.frame, place.vehicle);
    for (std::size_t i = 0; i < kPlanPoints; ++i) {
      const SceneNode* then =
          tracks.find(place.frame + static_cast<std::int64_t>(i) + 1, place.vehicle);
      const Point seen = to_frame({now->x_m, now->y_m, now->heading_rad}, then->x_m, then->y_m);
      EXPECT_NEAR(example.target.points[i].x_m, seen.x_m, 1e-3F);
      EXPECT_NEAR(example.target.points[i].y_m, seen.y_m, 1e-3F);
    }
    EXPECT_EQ(example.view.route.back(),
              tracks.scene().route(static_cast<std::size_t>(now->route)).back());
  }
}

TEST(Examples, APerturbedVehicleReturnsToItsWay) {
  const SceneTracks tracks(testing::crossing_scene(4));
  const ExamplePlace place = straight_place(tracks);
  Example plain, perturbed;
  make_example(tracks, place, {}, plain);
  make_example(tracks, place, {.aside_m = 1.0F, .heading_rad = 0.1F, .speed_mps = 1.0F}, perturbed);
  const Box& was = plain.view.ego[0];
  const Box& is = perturbed.view.ego[0];
  EXPECT_NEAR(is.pose.y_m - was.pose.y_m, 1.0, 1e-4) << "the vehicle heads east, so left is north";
  EXPECT_NEAR(is.pose.heading_rad - was.pose.heading_rad, 0.1, 1e-5);
  EXPECT_NEAR(is.speed_mps - was.speed_mps, 1.0F, 1e-5F);
  const auto aside = [&](std::size_t i) {
    const Point there = from_frame(is.pose, perturbed.target.points[i]);
    return there.y_m - from_frame(was.pose, plain.target.points[i]).y_m;
  };
  EXPECT_GT(aside(0), 0.3F) << "half a second later the vehicle must still be beside its way";
  EXPECT_NEAR(aside(5), 0.0F, 1e-3F);
  const Point end = from_frame(is.pose, perturbed.target.points[5]);
  EXPECT_NEAR(end.x_m, from_frame(was.pose, plain.target.points[5]).x_m, 1e-2F);
}

TEST(Examples, AStandingVehicleStaysWhereItWasMovedTo) {
  RecordedScene scene = testing::crossing_scene(4, 1, 12);
  for (SceneNode& node : scene.nodes) {
    node = scene.nodes.front();
    node.speed_mps = 0.0F;
  }
  const SceneTracks tracks(std::move(scene));
  Example example;
  make_example(tracks, tracks.places().front(), {.aside_m = 0.8F}, example);
  for (const Point& point : example.target.points) {
    EXPECT_NEAR(point.x_m, 0.0F, 1e-3F);
    EXPECT_NEAR(point.y_m, 0.0F, 1e-3F);
  }
}

TEST(Observation, AMirroredStatusHasTheOtherSigns) {
  const SceneTracks tracks(testing::crossing_scene(4));
  Example example;
  make_example(tracks, straight_place(tracks), {.aside_m = 0.5F}, example);
  Observer observer(kSmallRaster);
  std::vector<std::uint8_t> image(kSmallRaster.num_bytes());
  std::vector<float> plain(kStatusSize), mirrored(kStatusSize), without(kStatusSize);
  observer.observe(tracks.map(), example.view, {}, image, plain);
  observer.observe(tracks.map(), example.view, {.mirrored = true}, image, mirrored);
  const std::size_t line = kStatusSize - 2 * kRouteAt_m.size();
  for (std::size_t i = line; i < kStatusSize; i += 2) {
    EXPECT_FLOAT_EQ(mirrored[i], plain[i]);
    EXPECT_FLOAT_EQ(mirrored[i + 1], -plain[i + 1]);
  }
  EXPECT_NEAR(plain[line + 1], -0.05F, 1e-3F)
      << "the lane's centre is half a metre to the right of the vehicle";
  observer.observe(tracks.map(), example.view, {.history = false}, image, without);
  EXPECT_EQ(without[0], 0.0F);
  EXPECT_EQ(without[1], plain[1]) << "without the history the present speed must stay";
  EXPECT_EQ(without[2], 0.0F);
  const std::size_t plane = 64 * 96;
  EXPECT_EQ(std::count(image.begin() + kVehicles05 * plane, image.begin() + kSpeed * plane, 0),
            static_cast<std::ptrdiff_t>(3 * plane));
}

/// Observes an ego on the western arm of a crossing. Its route leads straight on to the east.
class CrossingStatusTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kLight = kOwnStatusSize + 1;
  static constexpr std::size_t kLeader = kLight + 5;
  static constexpr std::size_t kFirstCrossing = kLeader + 4;

  static Box car(double x_m, double y_m, double heading_rad, float speed_mps) {
    return {
        .pose = {x_m, y_m, heading_rad}, .length_m = 5.0F, .width_m = 1.8F, .speed_mps = speed_mps};
  }
  std::vector<float> status(const Box& ego, char light, const std::vector<Box>& others = {}) {
    const std::vector<std::uint8_t> signals(roads_->signals.size(),
                                            static_cast<std::uint8_t>(light));
    const std::vector<std::int32_t> route{0, 5};
    View view{.map = roads_.get(), .ego = {}, .others = {}, .route = route, .signals = signals};
    view.ego.fill(ego);
    view.others.fill(others);
    Observer observer(kSmallRaster);
    std::vector<std::uint8_t> image(kSmallRaster.num_bytes());
    std::vector<float> numbers(kStatusSize);
    observer.observe(map_, view, {}, image, numbers);
    return numbers;
  }

  std::shared_ptr<const RoadMap> roads_ = testing::crossing();
  MapIndex map_{roads_};
};

TEST_F(CrossingStatusTest, ALightIsDescribedByDistanceNeededBrakingAndRight) {
  // The stop line is at -12 m and the front at -19.5 m. From 8 m/s the ego needs 8 * 8 / (2 * 6.5)
  // m/s2 to stop a metre before the line.
  const Box ego = car(-22.0, -4.8, 0.0, 8.0F);
  const std::vector<float> red = status(ego, 'r');
  EXPECT_NEAR(red[kLight], 7.5F / 50.0F, 1e-4F);
  EXPECT_FLOAT_EQ(red[kLight + 1], 1.0F) << "7.5 m are beyond the fine scale, which ends at 5 m";
  EXPECT_NEAR(red[kLight + 2], 64.0F / 13.0F / 4.0F, 1e-3F);
  EXPECT_FLOAT_EQ(red[kLight + 3], 1.0F);
  EXPECT_FLOAT_EQ(red[kLight + 4], 0.0F);
  const std::vector<float> near = status(car(-15.0, -4.8, 0.0, 0.0F), 'y');
  EXPECT_NEAR(near[kLight + 1], 0.5F / 5.0F, 1e-4F);
  EXPECT_FLOAT_EQ(near[kLight + 2], 0.0F);
  EXPECT_FLOAT_EQ(near[kLight + 3], 0.5F);
  const std::vector<float> yields = status(ego, 'g');
  EXPECT_FLOAT_EQ(yields[kLight], 1.0F);
  EXPECT_FLOAT_EQ(yields[kLight + 2], 0.0F);
  EXPECT_FLOAT_EQ(yields[kLight + 3], 0.0F);
  EXPECT_FLOAT_EQ(yields[kLight + 4], 1.0F);
}

TEST_F(CrossingStatusTest, AVehicleAheadIsDescribedByGapNeededBrakingAndSpeed) {
  // The vehicles are 5 m long and their centres 8 m apart, so the gap between them is 3 m.
  const std::vector<float> seen =
      status(car(-60.0, -4.8, 0.0, 10.0F), 'G', {car(-52.0, -4.8, 0.0, 6.0F)});
  EXPECT_NEAR(seen[kLeader], 3.0F / 50.0F, 1e-4F);
  EXPECT_NEAR(seen[kLeader + 1], 3.0F / 5.0F, 1e-4F);
  EXPECT_NEAR(seen[kLeader + 2], 16.0F / 4.0F / 4.0F, 1e-3F);
  EXPECT_NEAR(seen[kLeader + 3], 0.6F, 1e-4F);
}

TEST_F(CrossingStatusTest, TheNextVehiclesThatCrossTheRouteAreInOrderOfTime) {
  // One comes from the south on the lane at x = 4.8 m, one from the north at x = -4.8 m. The third
  // one stands, and the fourth one drives away.
  const std::vector<Box> others{car(4.8, -24.8, std::numbers::pi / 2.0, 10.0F),
                                car(-4.8, 11.2, -std::numbers::pi / 2.0, 8.0F),
                                car(0.0, -20.0, std::numbers::pi / 2.0, 0.0F),
                                car(1.6, -30.0, -std::numbers::pi / 2.0, 9.0F)};
  const std::vector<float> seen = status(car(-32.0, -4.8, 0.0, 8.0F), 'G', others);
  EXPECT_NEAR(seen[kFirstCrossing], 27.2F / 50.0F, 0.01F);
  EXPECT_FLOAT_EQ(seen[kFirstCrossing + 1], 1.0F);
  EXPECT_NEAR(seen[kFirstCrossing + 2], (11.2F + 3.84F) / 8.0F / 5.0F, 1e-3F);
  EXPECT_NEAR(seen[kFirstCrossing + 3], 0.8F, 1e-4F);
  EXPECT_NEAR(seen[kFirstCrossing + 4], 36.8F / 50.0F, 0.01F);
  EXPECT_NEAR(seen[kFirstCrossing + 6], (24.8F - 2.56F) / 10.0F / 5.0F, 1e-3F);
  const std::vector<float> none = status(car(-32.0, -4.8, 0.0, 8.0F), 'G');
  EXPECT_FLOAT_EQ(none[kFirstCrossing + 2], 1.0F);
  EXPECT_FLOAT_EQ(none[kFirstCrossing + 3], 0.0F);
}

}  // namespace
}  // namespace traffic::driving
