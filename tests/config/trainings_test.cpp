#include "traffic/config/trainings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "traffic/config/load.h"
#include "traffic/config/write.h"
#include "traffic/core/error.h"

namespace traffic::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> phases_of(const Plan& plan) {
  std::vector<std::string> phases;
  for (const Config& config : plan.phases) phases.push_back(config.run.phase);
  return phases;
}

Plan plan_for(const std::string& phase) {
  return parse_plan("", "", {.assignments = {{"--phase", "run.phase", phase}}});
}

std::string error_for(const std::string& phase) {
  try {
    plan_for(phase);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Trainings, AreNamedByNumberOrName) {
  EXPECT_EQ(find_training("2"), find_training("ppo"));
  EXPECT_EQ(find_training("3"), find_training("ppo_constrained"));
  EXPECT_EQ(find_training("4"), nullptr);
  EXPECT_EQ(find_training(""), nullptr);
  EXPECT_EQ(to_toml(plan_for("ppo")), to_toml(plan_for("2")));
  EXPECT_EQ(plan_for("world_model").whole.run.phase, "1");
  EXPECT_EQ(parse_plan("", "").whole.run.phase, "1")
      << "without a name the plan consists of the first training";
}

TEST(Trainings, APlanIsAnyListThatFits) {
  EXPECT_THAT(phases_of(plan_for("1,2")), ElementsAre("1", "2"));
  EXPECT_THAT(phases_of(plan_for("ppo, ppo_constrained")), ElementsAre("2", "3"));
  EXPECT_THAT(phases_of(plan_for("all")), ElementsAre("1", "2", "3"));
  EXPECT_EQ(to_toml(plan_for("1,2")), to_toml(plan_for("world_model,ppo")));
  EXPECT_THAT(phases_of(parse_plan(to_toml(plan_for("1,2")), "printed")), ElementsAre("1", "2"));
}

TEST(Trainings, APlanThatDoesNotFitIsRefusedWithTheReason) {
  EXPECT_THAT(
      error_for("1,3"),
      HasSubstr("ppo_constrained comes after world_model and cannot start from its checkpoint; "
                "ppo_constrained can start from ppo"));
  EXPECT_THAT(error_for("2,2"), HasSubstr("expected each training once, found ppo twice"));
  EXPECT_THAT(error_for("2,1"), HasSubstr("can start from no other training"));
  EXPECT_THAT(error_for("1,ppx"), HasSubstr("did you mean 'ppo'?"));
  EXPECT_THAT(error_for("1,"), HasSubstr("expected one of all, 1, 2, 3"));
}

TEST(Trainings, ATableOfATrainingRefusesKeysOfOtherTrainings) {
  try {
    parse_plan("[phase1.ppo]\ngamma = 0.5\n", "plan.toml");
    FAIL() << "expected a ConfigError: ppo.gamma does not concern phase 1";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("ppo.gamma: does not concern phase 1, world_model"));
  }
}

}  // namespace
}  // namespace traffic::config
