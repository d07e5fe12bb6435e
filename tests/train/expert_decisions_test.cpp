#include "train/expert_decisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace traffic::train {
namespace {

using scene::Longitudinal;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::array kCommands = {Longitudinal::kNone, Longitudinal::kFast, Longitudinal::kStop};
constexpr std::array<std::uint32_t, 4> kVehicles = {3, 5, 8, 9};

scene::Command command(std::uint32_t vehicle, Longitudinal longitudinal) {
  scene::Command made;
  made.vehicle_id = vehicle;
  made.longitudinal = longitudinal;
  return made;
}

TEST(ExpertDecisions, CommandedVehiclesComeFirstTheOthersAreLeftAlone) {
  const std::array asked = {command(8, Longitudinal::kStop), command(5, Longitudinal::kFast),
                            command(5, Longitudinal::kStop)};
  const ExpertDecisions made = expert_decisions(kVehicles, asked, kCommands, 4);
  EXPECT_THAT(made.place, ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(made.action, ElementsAre(1.0F, 2.0F, 0.0F, 0.0F));
}

TEST(ExpertDecisions, NoMoreThanMayBePicked) {
  const std::array asked = {command(9, Longitudinal::kStop)};
  const ExpertDecisions made = expert_decisions(kVehicles, asked, kCommands, 2);
  EXPECT_THAT(made.place, ElementsAre(3, 0));
  EXPECT_THAT(expert_decisions(kVehicles, asked, kCommands, 0).place, IsEmpty());
}

TEST(ExpertDecisions, WhatIsNoCandidateOrNoActionIsNotImitated) {
  const std::array asked = {command(4, Longitudinal::kStop), command(3, Longitudinal::kHold)};
  const ExpertDecisions made = expert_decisions(kVehicles, asked, kCommands, 1);
  EXPECT_THAT(made.place, ElementsAre(0));
  EXPECT_THAT(made.action, ElementsAre(0.0F));
}

}  // namespace
}  // namespace traffic::train
