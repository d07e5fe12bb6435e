#include "train/run/foreign_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ForeignSettings, AShippedScenarioNeedsNoOption) {
  config::Config config;
  config.env.scenario = "merge";
  config.env.cv_types = {"smartcar"};
  config.env.objective = "0.5*delay+0.5*co2";
  EXPECT_EQ(options_of_foreign_settings(config), "");
  EXPECT_NO_THROW(refuse_foreign_settings(config, {}, "checkpoint:a.h5"));
}

TEST(ForeignSettings, AFileAndArgumentsOfSumoAreRefusedTogetherWithTheirOptions) {
  config::Config config;
  config.env.scenario = "my.sumocfg";
  config.env.sumo_args = {"--time-to-teleport", "-1"};
  const std::string options =
      "--scenario 'my.sumocfg' --set 'env.sumo_args=[\"--time-to-teleport\", \"-1\"]'";
  EXPECT_EQ(options_of_foreign_settings(config), options + " ");
  try {
    refuse_foreign_settings(config, {}, "checkpoint:a.h5");
    FAIL() << "expected a ConfigError: the options that allow these settings are missing";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("checkpoint:a.h5"), HasSubstr("add " + options)));
  }
  EXPECT_NO_THROW(
      refuse_foreign_settings(config, {"env.scenario", "env.sumo_args"}, "checkpoint:a.h5"));
}

}  // namespace
}  // namespace traffic::train
