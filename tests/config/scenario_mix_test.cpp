#include "traffic/config/scenario_mix.h"

#include <gtest/gtest.h>

#include "traffic/config/load.h"
#include "traffic/core/error.h"

namespace traffic::config {
namespace {

std::vector<ScenarioShare> mix_of(const std::vector<std::string>& scenarios) {
  Env env;
  env.scenarios = scenarios;
  return scenario_mix(env);
}

TEST(ScenarioMix, WithoutAListItConsistsOfTheOneScenario) {
  Env env;
  env.scenario = "corridor";
  const auto mix = scenario_mix(env);
  ASSERT_EQ(mix.size(), 1U);
  EXPECT_EQ(mix[0].scenario, "corridor");
  EXPECT_EQ(mix[0].share, 1.0);
}

TEST(ScenarioMix, TurnsWeightsIntoShares) {
  const auto mix = mix_of({"merge:3", "corridor", "/tmp/a:b.sumocfg:0.5"});
  ASSERT_EQ(mix.size(), 3U);
  EXPECT_EQ(mix[0].scenario, "merge");
  EXPECT_EQ(mix[0].share, 3.0 / 4.5);
  EXPECT_EQ(mix[1].share, 1.0 / 4.5);
  EXPECT_EQ(mix[2].scenario, "/tmp/a:b.sumocfg");
  EXPECT_EQ(mix[2].share, 0.5 / 4.5);
}

TEST(ScenarioMix, RefusesInvalidWeightsAndMissingNames) {
  for (const char* entry : {"", "merge:", "merge:0", "merge:-1", "merge:nan", "merge:two", ":1"}) {
    EXPECT_FALSE(refuse_scenario_entry(entry).empty()) << entry;
    EXPECT_THROW(mix_of({entry}), ConfigError) << entry;
  }
  EXPECT_THROW(parse_config("[env]\nscenarios = [\"merge:0\"]\n", "a file"), ConfigError);
}

}  // namespace
}  // namespace traffic::config
