#include "traffic/sim/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traffic/core/error.h"

namespace traffic::sim {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(Scenario, IsFoundByNameAndByPath) {
  EXPECT_THAT(shipped_scenarios(), Contains("corridor"));
  EXPECT_THAT(shipped_scenarios(), Contains("merge"));
  EXPECT_THAT(shipped_scenarios(), Contains("merge_quick"));
  const auto path = find_scenario("merge");
  EXPECT_TRUE(path.is_absolute());
  EXPECT_EQ(path.filename(), "merge.sumocfg");
  EXPECT_EQ(find_scenario(path.string()), path);
}

TEST(Scenario, AnUnknownNameListsTheShippedOnes) {
  try {
    find_scenario("marge");
    FAIL() << "expected a DataError: the scenario is unknown";
  } catch (const DataError& e) {
    EXPECT_THAT(e.what(), HasSubstr("'marge'"));
    EXPECT_THAT(e.what(),
                HasSubstr("harbour, lane_drop, lights_arterial, lights_grid, lights_phases, "
                          "lights_town, merge, merge_quick"));
  }
}

}  // namespace
}  // namespace traffic::sim
