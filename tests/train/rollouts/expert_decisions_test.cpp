#include "train/rollouts/expert_decisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace traffic::train {
namespace {

using scene::Longitudinal;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::array kCommands = {scene::CommandKind{},
                                  scene::CommandKind{.longitudinal = Longitudinal::kFast},
                                  scene::CommandKind{.longitudinal = Longitudinal::kStop},
                                  scene::CommandKind{.lane_change = scene::LaneChange::kLeft}};
constexpr std::array<std::uint32_t, 4> kVehicles = {3, 5, 8, 9};

constexpr double kLeast_s = 2.5;

scene::Command command(std::uint32_t vehicle, Longitudinal longitudinal, double hold_s = 5.0) {
  scene::Command made;
  made.hold_s = hold_s;
  made.vehicle_id = vehicle;
  made.longitudinal = longitudinal;
  return made;
}

TEST(ExpertDecisions, CommandedVehiclesComeFirstAndTheOthersGetNone) {
  const std::array asked = {command(8, Longitudinal::kStop), command(5, Longitudinal::kFast),
                            command(5, Longitudinal::kStop)};
  const DecisionColumns made = expert_decisions(kVehicles, asked, kCommands, 4, kLeast_s);
  EXPECT_THAT(made.place, ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(made.action, ElementsAre(1.0F, 2.0F, 0.0F, 0.0F));
}

TEST(ExpertDecisions, AVehicleCommandedForLessThanTheMinimumGetsNone) {
  std::vector<scene::Command> asked(3, command(5, Longitudinal::kStop, 1.0));
  asked.push_back(command(8, Longitudinal::kStop, 1.0));
  const DecisionColumns made = expert_decisions(kVehicles, asked, kCommands, 4, kLeast_s);
  EXPECT_THAT(made.place, ElementsAre(1, 0, 2, 3));
  EXPECT_THAT(made.action, ElementsAre(2.0F, 0.0F, 0.0F, 0.0F));
}

TEST(ExpertDecisions, ALaneChangeCountsForTheTimeThatTheLaneIsKept) {
  scene::Command left = command(5, Longitudinal::kNone, 1.0);
  left.lane_change = scene::LaneChange::kLeft;
  const std::array asked = {left};
  EXPECT_THAT(expert_decisions(kVehicles, asked, kCommands, 1, kLeast_s).action, ElementsAre(3.0F));
}

TEST(ExpertDecisions, NeverExceedTheAllowedPicks) {
  const std::array asked = {command(9, Longitudinal::kStop)};
  const DecisionColumns made = expert_decisions(kVehicles, asked, kCommands, 2, kLeast_s);
  EXPECT_THAT(made.place, ElementsAre(3, 0));
  EXPECT_THAT(expert_decisions(kVehicles, asked, kCommands, 0, kLeast_s).place, IsEmpty());
}

TEST(ExpertDecisions, OtherVehiclesAndUnknownCommandsAreNotImitated) {
  const std::array asked = {command(4, Longitudinal::kStop), command(3, Longitudinal::kHold)};
  const DecisionColumns made = expert_decisions(kVehicles, asked, kCommands, 1, kLeast_s);
  EXPECT_THAT(made.place, ElementsAre(0));
  EXPECT_THAT(made.action, ElementsAre(0.0F));
}

}  // namespace
}  // namespace traffic::train
