/// Tests of the comparison of drivers, in which each driver drives the same vehicles in short
/// simulations.
#include "traffic/train/closed_loop/drive_evaluation.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

using ::testing::HasSubstr;

DriveEvaluationPlan short_plan() {
  DriveEvaluationPlan plan;
  plan.drivers = {"sumo", "idm", "constant_velocity"};
  plan.scenarios = {"town", "lights_town"};
  plan.seeds = {1, 2};
  plan.traffic.warm_up_s = 40.0;
  plan.traffic.duration_s = 15.0;
  plan.traffic.egos = 4;
  plan.jobs = 2;
  return plan;
}

TEST(DriveEvaluation, SumoIsAlwaysThereAndFirst) {
  EXPECT_EQ(drivers_to_compare({"idm"}), (std::vector<std::string>{"sumo", "idm"}));
  EXPECT_EQ(drivers_to_compare({"idm", "sumo"}), (std::vector<std::string>{"sumo", "idm"}));
  EXPECT_THROW(drivers_to_compare({"idm", "idm"}), ConfigError);
  try {
    drivers_to_compare({"taxi"});
    FAIL() << "expected a ConfigError, because there is no driver taxi";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("found 'taxi', expected sumo, idm"));
  }
  EXPECT_EQ(drivers_to_compare({"guarded:idm"}), (std::vector<std::string>{"sumo", "guarded:idm"}));
  EXPECT_THROW(drivers_to_compare({"guarded:sumo"}), ConfigError);
}

TEST(DriveEvaluation, EveryDriverDrivesTheSameVehicles) {
  const DriveEvaluationPlan plan = short_plan();
  const std::vector<DrivenEgo> egos = run_drive_evaluation(plan);
  std::vector<std::set<std::string>> names(plan.drivers.size());
  for (const DrivenEgo& ego : egos) {
    names[ego.driver].insert(fmt::format("{} {} {}", ego.scenario, ego.seed, ego.name));
    EXPECT_GT(ego.measures.seconds, 0.0);
  }
  EXPECT_EQ(names[0].size(), 16U) << "four vehicles in each of two scenarios, with two seeds";
  EXPECT_EQ(names[1], names[0]);
  EXPECT_EQ(names[2], names[0]);

  const auto json = nlohmann::ordered_json::parse(drive_json(plan, egos));
  const auto& drivers = json["drivers"];
  ASSERT_EQ(drivers.size(), 3U);
  EXPECT_DOUBLE_EQ(drivers[0]["progress_%"], 100.0) << "SUMO's own driver is the reference";
  EXPECT_GT(drivers[0]["score"], 0.9);
  EXPECT_GT(drivers[1]["score"], drivers[2]["score"])
      << "a driver that looks ahead must score higher than one that does not";
  EXPECT_GT(drivers[2]["collisions/km"], drivers[1]["collisions/km"]);
  EXPECT_EQ(json["differences"].size(), 3U);
  EXPECT_EQ(json["differences"][0]["pairs"], 4);
  EXPECT_EQ(json["egos"].size(), egos.size());
}

TEST(DriveEvaluation, ScoresArePairedByScenarioAndSeed) {
  DriveEvaluationPlan plan = short_plan();
  plan.drivers = {"sumo", "idm"};
  plan.scenarios = {"town"};
  std::vector<DrivenEgo> egos;
  const auto add = [&](std::size_t driver, std::uint64_t seed, double progress_m,
                       std::int64_t faults) {
    driving::DriveMeasures measures;
    measures.seconds = 10.0;
    measures.driven_m = 100.0;
    measures.progress_m = progress_m;
    measures.collisions = measures.faults = faults;
    egos.push_back(
        {.driver = driver, .scenario = 0, .seed = seed, .name = "car", .measures = measures});
  };
  add(0, 1, 100.0, 0);
  add(0, 2, 80.0, 0);
  add(1, 1, 50.0, 0);  // half the progress gives the score 1 - 2.5 / 12
  add(1, 2, 80.0, 1);  // a fault gives the score 0
  const auto json = nlohmann::ordered_json::parse(drive_json(plan, egos));
  EXPECT_NEAR(json["drivers"][1]["score"], 0.5 * (1.0 - 2.5 / 12.0), 1e-12);
  EXPECT_NEAR(json["drivers"][1]["progress_%"], 100.0 * 130.0 / 180.0, 1e-9);
  EXPECT_NEAR(json["drivers"][1]["collisions/km"], 5.0, 1e-9);
  const auto& difference = json["differences"][0];
  EXPECT_EQ(difference["driver"], "idm");
  EXPECT_NEAR(difference["score"], 0.5 * (-2.5 / 12.0 - 1.0), 1e-12);
  EXPECT_NEAR(difference["collisions/km"], 5.0, 1e-9);
  EXPECT_THAT(drive_csv(plan, egos), HasSubstr("\"town\",\"idm\",2,\"car\",10,100,80,1,1,"));
}

TEST(DriveEvaluation, TablesTellAGuardedDriverFromTheSameDriverAlone) {
  DriveEvaluationPlan plan;
  const std::string checkpoint = "checkpoint:runs/a-run-with-a-long-name/checkpoints/best.h5";
  plan.drivers = {"sumo", checkpoint, std::string(kGuarded) + checkpoint};
  plan.scenarios = {"town"};
  plan.seeds = {1};
  std::vector<DrivenEgo> egos;
  for (std::size_t driver = 0; driver < plan.drivers.size(); ++driver) {
    egos.push_back({.driver = driver, .seed = 1, .name = "car", .measures = {.seconds = 10.0}});
  }
  const std::string text = drive_table(plan, egos).to_text();
  EXPECT_THAT(text, HasSubstr("\n...ng-name/checkpoints/best.h5 "));
  EXPECT_THAT(text, HasSubstr("\nguarded:...ng-name/checkpoints/best.h5 "));
}

TEST(DriveEvaluation, AFailedEpisodeIsNamedWithItsReason) {
  DriveEvaluationPlan plan = short_plan();
  plan.traffic.demand_factor = 0.0;
  try {
    run_drive_evaluation(plan);
    FAIL() << "expected an error, because no car is on the road";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kData);
    EXPECT_THAT(error.what(), HasSubstr("driver sumo, scenario town, seed "));
    EXPECT_THAT(error.what(), HasSubstr("no passenger car is on the road"));
  }
}

}  // namespace
}  // namespace traffic::train
