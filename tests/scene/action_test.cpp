#include "traffic/scene/action.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traffic/core/error.h"
#include "traffic_fixture.h"

namespace traffic::scene {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace testing;  // NOLINT: the helpers beside this file

class Commands : public ::testing::Test {
 protected:
  /// Speed commanded to a vehicle at 10 m/s, 100 m before the stop line of the main road.
  std::optional<double> speed_for(Longitudinal kind, double value = 0) {
    ActiveCommand active;
    active.command.longitudinal = kind;
    active.command.value = value;
    active.picked_speed_mps = 9;
    return next_speed(active, scene_.at(cv_), scene_.state(), {}, 22.0);
  }
  void set_light(const std::string& state, double change_s) {
    scene_.events().lights = {LightState{.state = state, .change_s = {change_s}}};
    scene_.step();
  }

  Scene scene_{priority_merge().road()};
  std::uint32_t cv_ = scene_.add({"main", "out"}, "main_0", 200, 10, true);
};

TEST_F(Commands, HaveNames) {
  EXPECT_EQ(name_of(Longitudinal::kArriveLate), "arrive_late");
  EXPECT_EQ(command_kind_of("slow"), CommandKind{.longitudinal = Longitudinal::kSlow});
  EXPECT_EQ(command_kind_of("left"), CommandKind{.lane_change = LaneChange::kLeft});
  EXPECT_EQ(command_kind_of("right"), CommandKind{.lane_change = LaneChange::kRight});
  EXPECT_THROW(command_kind_of("warp"), ConfigError);
}

TEST_F(Commands, SlowDownNoFasterThanAllowed) {
  scene_.step();
  EXPECT_DOUBLE_EQ(*speed_for(Longitudinal::kStop), 8);
  EXPECT_DOUBLE_EQ(*speed_for(Longitudinal::kSlow), 8);
  EXPECT_DOUBLE_EQ(*speed_for(Longitudinal::kHold), 9);
  EXPECT_DOUBLE_EQ(*speed_for(Longitudinal::kFast), 22);
  EXPECT_DOUBLE_EQ(*speed_for(Longitudinal::kTargetSpeed, 9.5), 9.5);
  EXPECT_DOUBLE_EQ(*speed_for(Longitudinal::kAcceleration, 1.0), 11);
  EXPECT_DOUBLE_EQ(*speed_for(Longitudinal::kAcceleration, -9.0), 7);  // clipped to -3
  EXPECT_FALSE(speed_for(Longitudinal::kNone).has_value());
}

TEST_F(Commands, ArriveLateReachesTheLineWhenTheConflictingGreenEnds) {
  set_light("G", 11.0);
  EXPECT_NEAR(*speed_for(Longitudinal::kArriveLate), 100.0 / 11.0, 1e-12);
  set_light("G", 100.0);
  EXPECT_DOUBLE_EQ(*speed_for(Longitudinal::kArriveLate), 8);  // towards 1 m/s, by 2 m/s a step
}

TEST_F(Commands, ArriveLateLeavesVehiclesAloneWithoutAConflictingGreen) {
  set_light("r", 11.0);
  EXPECT_FALSE(speed_for(Longitudinal::kArriveLate).has_value());
}

TEST_F(Commands, ArriveLateWaitsForAGreenThatBeginsWithinItsLead) {
  scene_.events().lights = {LightState{.state = "r", .change_s = {4}, .green_end_s = {11}}};
  scene_.step();
  EXPECT_FALSE(speed_for(Longitudinal::kArriveLate, 3).has_value());
  EXPECT_NEAR(*speed_for(Longitudinal::kArriveLate, 4), 100.0 / 11.0, 1e-12);
}

TEST_F(Commands, ArriveLateIgnoresGreensAfterItsOwn) {
  scene_.events().lights = {LightState{.state = "G", .change_s = {2}, .green_end_s = {2}}};
  scene_.step();
  CommandBook book;
  const Command late{
      .vehicle_id = cv_, .longitudinal = Longitudinal::kArriveLate, .value = 1000, .hold_s = 30};
  book.add(std::vector{late}, scene_.state());
  const auto speed = [&] {
    return next_speed(book.active()[0], scene_.at(cv_), scene_.state(), {}, 22.0);
  };
  EXPECT_TRUE(speed().has_value());
  scene_.step();
  scene_.events().lights = {LightState{.state = "r", .change_s = {60}, .green_end_s = {100}}};
  scene_.step();
  EXPECT_FALSE(speed().has_value());
}

TEST_F(Commands, ArriveGreenReachesTheLineWhenItsOwnGreenBegins) {
  Scene scene(priority_merge().road());
  const auto ramp = scene.add(kRamp, "ramp_0", 200, 10, true);
  const auto creeping = scene.add(kRamp, "ramp_0", 100, 3.2, true);
  const auto speed = [&](std::uint32_t vehicle, const std::string& light, double change_s) {
    scene.events().lights = {
        LightState{.state = light, .change_s = {change_s}, .green_end_s = {change_s + 10}}};
    scene.step();
    ActiveCommand active;
    active.command.longitudinal = Longitudinal::kArriveGreen;
    return next_speed(active, scene.at(vehicle), scene.state(), {}, 16.0);
  };
  EXPECT_NEAR(*speed(ramp, "r", 11), 100.0 / 11.0, 1e-12);
  EXPECT_DOUBLE_EQ(*speed(creeping, "r", 500), kLeastArrivalMps);
  EXPECT_DOUBLE_EQ(*speed(ramp, "r", 1), 16);  // as fast as it may
  EXPECT_FALSE(speed(ramp, "G", 11).has_value());
  EXPECT_FALSE(speed(ramp, "r", kSignalHorizonS).has_value());
}

TEST_F(Commands, ArriveLateDoesNothingIfTheConflictingGreenNeverEnds) {
  set_light("G", kSignalHorizonS);
  EXPECT_FALSE(speed_for(Longitudinal::kArriveLate).has_value());
}

TEST_F(Commands, LastForTheirDuration) {
  scene_.step();
  CommandBook book;
  const Command stop{.vehicle_id = cv_, .longitudinal = Longitudinal::kStop, .hold_s = 2};
  book.add(std::vector{stop}, scene_.state());
  EXPECT_THAT(book.expire(scene_.state()), IsEmpty());
  EXPECT_TRUE(scene_.at(cv_).commanded);
  scene_.step();
  EXPECT_THAT(book.expire(scene_.state()), IsEmpty());
  scene_.step();
  EXPECT_THAT(book.expire(scene_.state()), ElementsAre(cv_));
  EXPECT_FALSE(scene_.at(cv_).commanded);
  EXPECT_EQ(book.active().size(), 0U);
  EXPECT_EQ(scene_.state().score().interventions, 1);
  EXPECT_EQ(scene_.state().score().cv_steps, 2);
}

TEST_F(Commands, AreReplacedByNewOnesAndEndedByEmptyOnes) {
  scene_.step();
  CommandBook book;
  const Command stop{.vehicle_id = cv_, .longitudinal = Longitudinal::kStop, .hold_s = 30};
  const Command fast{.vehicle_id = cv_, .longitudinal = Longitudinal::kFast, .hold_s = 30};
  book.add(std::vector{stop}, scene_.state());
  book.add(std::vector{fast}, scene_.state());
  ASSERT_EQ(book.active().size(), 1U);
  EXPECT_EQ(book.active()[0].command.longitudinal, Longitudinal::kFast);
  EXPECT_EQ(scene_.state().score().interventions, 1);
  book.add(std::vector{Command{.vehicle_id = cv_}}, scene_.state());
  EXPECT_THAT(book.expire(scene_.state()), ElementsAre(cv_));
}

TEST_F(Commands, EndWhenTheVehiclePassesItsConflict) {
  scene_.step();
  CommandBook book;
  const Command stop{.vehicle_id = cv_, .longitudinal = Longitudinal::kStop, .hold_s = 30};
  book.add(std::vector{stop}, scene_.state());
  scene_.move(cv_, "out_0", 1, 10);
  scene_.step();
  EXPECT_THAT(book.expire(scene_.state()), ElementsAre(cv_));
}

TEST_F(Commands, FastContinuesAfterTheConflict) {
  scene_.step();
  CommandBook book;
  const Command fast{.vehicle_id = cv_, .longitudinal = Longitudinal::kFast, .hold_s = 2};
  book.add(std::vector{fast}, scene_.state());
  scene_.move(cv_, "out_0", 1, 10);
  scene_.step();
  EXPECT_THAT(book.expire(scene_.state()), IsEmpty());
  EXPECT_TRUE(scene_.at(cv_).commanded);
  scene_.step();
  EXPECT_THAT(book.expire(scene_.state()), ElementsAre(cv_));
}

TEST_F(Commands, EndWhenTheVehicleLeaves) {
  scene_.step();
  CommandBook book;
  const Command stop{.vehicle_id = cv_, .longitudinal = Longitudinal::kStop, .hold_s = 30};
  book.add(std::vector{stop}, scene_.state());
  scene_.state().arrive(cv_);
  EXPECT_THAT(book.expire(scene_.state()), IsEmpty());
  book.add(std::vector{stop}, scene_.state());
  EXPECT_EQ(book.active().size(), 0U);
}

TEST_F(Commands, ForVehiclesThatAreNotConnectedAreAnError) {
  const auto human = scene_.add({"main", "out"}, "main_0", 10, 10, false);
  scene_.step();
  CommandBook book;
  const Command stop{.vehicle_id = human, .longitudinal = Longitudinal::kStop};
  EXPECT_THROW(book.add(std::vector{stop}, scene_.state()), Error);
}

}  // namespace
}  // namespace traffic::scene
