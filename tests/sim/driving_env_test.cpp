/// Egos that this program's drivers move among SUMO's traffic, in shipped scenarios.
#include "traffic/sim/driving_env.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/driving/geometry.h"
#include "traffic/driving/rule_drivers.h"

namespace traffic::sim {
namespace {

using driving::DriveMeasures;
using driving::Plan;
using driving::View;

/// Short episodes in a town with lights.
DrivingOptions short_drive() {
  return {.scenario = "lights_town", .warm_up_s = 40.0, .duration_s = 20.0, .egos = 8};
}

/// A plan that turns away from the road.
class OffRoadDriver final : public driving::Driver {
 public:
  std::vector<Plan> plan(std::span<const View> views) override {
    std::vector<Plan> plans(views.size());
    for (Plan& one : plans) {
      for (std::size_t p = 0; p < driving::kPlanPoints; ++p) {
        const double turned_rad = 0.25 * static_cast<double>(p + 1);
        one.points[p] = {.x_m = static_cast<float>(16.0 * std::sin(turned_rad)),
                         .y_m = static_cast<float>(-16.0 * (1.0 - std::cos(turned_rad)))};
      }
    }
    return plans;
  }
};

void run(DrivingEnv& env, driving::Driver& driver) {
  while (!env.done()) env.drive(driver.plan(env.views()));
}

DriveMeasures sum_of(const DrivingEnv& env) {
  DriveMeasures sum;
  for (int ego = 0; ego < env.num_egos(); ++ego) {
    const DriveMeasures& one = env.measures(ego);
    sum.seconds += one.seconds;
    sum.progress_m += one.progress_m;
    sum.driven_m += one.driven_m;
    sum.collisions += one.collisions;
    sum.faults += one.faults;
    sum.off_lane_s += one.off_lane_s;
    sum.red_lights += one.red_lights;
  }
  return sum;
}

TEST(DrivingEnv, SumosOwnDriversMakeNoFaults) {
  DrivingEnv env(short_drive(), 1);
  EXPECT_EQ(env.num_egos(), 8);
  while (!env.done()) env.drive_by_sumo();
  const DriveMeasures sum = sum_of(env);
  EXPECT_GT(sum.progress_m, 400.0);
  EXPECT_NEAR(sum.progress_m, sum.driven_m, 0.05 * sum.driven_m)
      << "SUMO's own drivers follow their routes";
  EXPECT_EQ(sum.faults, 0);
  EXPECT_EQ(sum.red_lights, 0);
  EXPECT_LT(sum.off_lane_s, 0.01 * sum.seconds);
}

TEST(DrivingEnv, EveryDriverGetsTheSameEgosInTheSameState) {
  const auto names_and_places = [](std::uint64_t seed) {
    DrivingEnv env(short_drive(), seed);
    std::string text;
    for (const View& view : env.views()) {
      text += fmt::format("{:.6f} {:.6f} {:.6f};", view.ego[0].pose.x_m, view.ego[0].pose.y_m,
                          view.ego[0].speed_mps);
    }
    for (int ego = 0; ego < env.num_egos(); ++ego) text += env.name_of(ego) + ' ';
    return text;
  };
  EXPECT_EQ(names_and_places(5), names_and_places(5));
  EXPECT_NE(names_and_places(5), names_and_places(6));
}

TEST(DrivingEnv, SumoTakesThePosesOfTheEgosAsTheyAre) {
  DrivingEnv env(short_drive(), 2);
  driving::IdmDriver idm;
  for (int frame = 0; frame < 10; ++frame) env.drive(idm.plan(env.views()));
  // The history shows the poses that the bicycle has reached; they are continuous.
  for (const View& view : env.views()) {
    for (std::size_t age = 0; age + 1 < driving::kHistory; ++age) {
      const driving::Pose& now = view.ego[age].pose;
      const driving::Pose& before = view.ego[age + 1].pose;
      const double mean_mps = 0.5 * (view.ego[age].speed_mps + view.ego[age + 1].speed_mps);
      EXPECT_NEAR(std::hypot(now.x_m - before.x_m, now.y_m - before.y_m),
                  mean_mps * driving::kFrame_s, 0.3);
    }
  }
}

TEST(DrivingEnv, TheIdmDriverKeepsItsLaneItsDistanceAndTheLights) {
  DrivingEnv env(short_drive(), 1);
  driving::IdmDriver idm;
  run(env, idm);
  const DriveMeasures sum = sum_of(env);
  EXPECT_GT(sum.progress_m, 400.0);
  EXPECT_EQ(sum.faults, 0);
  EXPECT_EQ(sum.red_lights, 0);
  EXPECT_LT(sum.off_lane_s, 0.02 * sum.seconds);
}

TEST(DrivingEnv, ADriverThatLeavesItsRouteIsLost) {
  DrivingEnv env(short_drive(), 1);
  OffRoadDriver driver;
  run(env, driver);
  int lost = 0;
  for (int ego = 0; ego < env.num_egos(); ++ego) {
    const DriveMeasures& one = env.measures(ego);
    lost += one.is_lost ? 1 : 0;
    if (one.is_lost) {
      EXPECT_DOUBLE_EQ(driving::drive_score(one, 100.0), 0.0);
      EXPECT_LT(one.seconds, 20.0);
    }
  }
  EXPECT_GE(lost, env.num_egos() / 2);
  EXPECT_TRUE(env.done());
}

TEST(DrivingEnv, ConstantVelocityCausesCollisions) {
  DrivingEnv env({.scenario = "town", .warm_up_s = 60.0, .duration_s = 40.0, .egos = 8}, 1);
  driving::ConstantVelocityDriver driver;
  run(env, driver);
  EXPECT_GT(sum_of(env).faults, 0);
}

TEST(DrivingEnv, EgosArriveAtTheEndsOfTheirRoutes) {
  DrivingEnv env({.scenario = "town", .warm_up_s = 60.0, .duration_s = 90.0, .egos = 8}, 1);
  driving::IdmDriver idm;
  run(env, idm);
  int arrived = 0;
  for (int ego = 0; ego < env.num_egos(); ++ego) arrived += env.measures(ego).is_arrived ? 1 : 0;
  EXPECT_GE(arrived, 6);
}

/// Mean distance between the points of expert_plans() and the places that the egos reach when SUMO
/// then drives them.
double expert_error_m(DrivingEnv& env) {
  const auto plans = env.expert_plans();
  std::vector<driving::Pose> begins;
  std::vector<int> egos(env.driven().begin(), env.driven().end());
  for (const View& view : env.views()) begins.push_back(view.ego[0].pose);
  double sum_m = 0.0;
  int count = 0;
  for (std::size_t p = 0; p < driving::kPlanPoints; ++p) {
    env.drive_by_sumo();
    for (std::size_t i = 0; i < env.driven().size(); ++i) {
      const auto at =
          static_cast<std::size_t>(std::ranges::find(egos, env.driven()[i]) - egos.begin());
      if (!plans[at]) continue;
      const driving::Pose& pose = env.views()[i].ego[0].pose;
      const driving::Point seen = driving::to_frame(begins[at], pose.x_m, pose.y_m);
      sum_m += std::hypot(seen.x_m - plans[at]->points[p].x_m, seen.y_m - plans[at]->points[p].y_m);
      ++count;
    }
  }
  EXPECT_GT(count, 6);
  return sum_m / count;
}

TEST(DrivingEnv, TheExpertsWayIsTheOneThatSumoWillDrive) {
  DrivingEnv env(short_drive(), 3);
  for (int frame = 0; frame < 4; ++frame) env.drive_by_sumo();
  EXPECT_LT(expert_error_m(env), 1e-3) << "the copy simulates what the simulation itself does";
}

TEST(DrivingEnv, AskingTheExpertChangesNothing) {
  const auto end_of = [](bool asks) {
    DrivingEnv env(short_drive(), 4);
    driving::IdmDriver idm;
    std::string text;
    while (!env.done()) {
      if (asks) {
        EXPECT_EQ(env.expert_plans().size(), env.views().size());
      }
      env.drive(idm.plan(env.views()));
    }
    for (const DrivenVehicle& vehicle : env.vehicles()) {
      text +=
          fmt::format("{} {:.9f} {:.9f};", vehicle.id, vehicle.box.pose.x_m, vehicle.box.pose.y_m);
    }
    return text;
  };
  EXPECT_EQ(end_of(true), end_of(false));
}

TEST(DrivingEnv, TheExpertLeadsEgosBackToTheirLanes) {
  DrivingEnv env(short_drive(), 1);
  OffRoadDriver driver;
  driving::IdmDriver idm;
  for (int frame = 0; frame < 6; ++frame) env.drive(idm.plan(env.views()));
  const driving::RoadIndex roads(env.map());
  for (int frame = 0; frame < 2; ++frame) env.drive(driver.plan(env.views()));
  const auto plans = env.expert_plans();
  const auto off_m = [&](double x_m, double y_m) {
    std::vector<driving::OnLane> near;
    roads.find_near(x_m, y_m, 20.0, near);
    double least_m = 20.0;
    for (const driving::OnLane& lane : near) least_m = std::min(least_m, lane.distance_m);
    return least_m;
  };
  double before_m = 0.0;
  double after_m = 0.0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i]) continue;
    const driving::Pose& pose = env.views()[i].ego[0].pose;
    const driving::Point end = driving::from_frame(pose, plans[i]->points.back());
    before_m += off_m(pose.x_m, pose.y_m);
    after_m += off_m(end.x_m, end.y_m);
  }
  EXPECT_GT(before_m, 2.0);
  EXPECT_LT(after_m, 0.6 * before_m);
}

TEST(DrivingEnv, AScenarioWithoutCarsIsRefused) {
  try {
    DrivingEnv env({.scenario = "town", .demand_factor = 0.0}, 1);
    FAIL() << "expected a DataError: no car departs, because the demand is 0";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("no passenger car is on the road"), std::string::npos);
  }
}

}  // namespace
}  // namespace traffic::sim
