#include "traffic/scene/shield.h"

#include <gtest/gtest.h>

namespace traffic::scene {
namespace {

constexpr ShieldLimits kLimits{.thw_s = 0.7, .ttc_s = 1.5, .brake_mps2 = 4.0};

TEST(Shield, MeasuresHeadwayAndTimeToCollision) {
  EXPECT_DOUBLE_EQ(time_headway_s(14, 20), 0.7);
  EXPECT_DOUBLE_EQ(time_to_collision_s(15, 20, 10), 1.5);
  EXPECT_EQ(time_headway_s(0, 0), kNeverS);                // at rest
  EXPECT_EQ(time_to_collision_s(1, 10, 10), kNeverS);      // the gap does not close
  EXPECT_DOUBLE_EQ(time_to_collision_s(-0.5, 20, 10), 0);  // overlapping
}

TEST(Shield, EitherThresholdMakesASituationUnsafe) {
  EXPECT_TRUE(is_unsafe(13, 20, 20, kLimits));   // headway 0.65 s
  EXPECT_FALSE(is_unsafe(15, 20, 20, kLimits));  // headway 0.75 s
  EXPECT_TRUE(is_unsafe(20, 20, 5, kLimits));    // collision in 1.33 s
  EXPECT_FALSE(is_unsafe(0, 0, 0, kLimits));     // a queue at rest
}

TEST(Shield, LevelOneClipsToTheAbilityOfTheVehicle) {
  const Ability ability{.max_accel_mps2 = 1.5, .max_decel_mps2 = 4.5};
  EXPECT_DOUBLE_EQ(clip_speed(20, 10, ability, 1.0), 11.5);
  EXPECT_DOUBLE_EQ(clip_speed(0, 10, ability, 1.0), 5.5);
  EXPECT_DOUBLE_EQ(clip_speed(0, 3, ability, 1.0), 0);
  EXPECT_DOUBLE_EQ(clip_speed(10.5, 10, ability, 1.0), 10.5);
}

TEST(Shield, LevelTwoBrakesIfACommandLeadsBelowAThreshold) {
  // After the step: 10 m + (5 - 12) m = 3 m at 12 m/s.
  const auto braked = braking_override({12, 11, 10, 5}, kLimits, 1.0);
  ASSERT_TRUE(braked.has_value());
  EXPECT_DOUBLE_EQ(*braked, 7);
}

TEST(Shield, LevelTwoKeepsSafeAndHarderBrakingCommands) {
  EXPECT_FALSE(braking_override({12, 11, 60, 12}, kLimits, 1.0).has_value());
  EXPECT_FALSE(braking_override({2, 10, 3, 0}, kLimits, 1.0)
                   .has_value());  // the command brakes harder already
}

}  // namespace
}  // namespace traffic::scene
