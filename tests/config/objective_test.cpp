#include "traffic/config/objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traffic/core/error.h"

namespace traffic::config {
namespace {

TEST(Objectives, AreSingleScoresOrWeightedSums) {
  EXPECT_EQ(objective_of("ocr"), Objective::kThroughput);
  EXPECT_EQ(objective_of("delay"), Objective::kDelay);
  EXPECT_EQ(objective_of("co2"), Objective::kCo2);
  EXPECT_EQ(objective_of("electricity"), Objective::kElectricity);
  EXPECT_EQ(objective_of("auto"), Objective::kThroughput);
  EXPECT_EQ(objective_of("delay+co2"), (Objective{.delay = 0.5, .co2 = 0.5}));
  EXPECT_EQ(objective_of("0.75*delay+0.25*co2"), (Objective{.delay = 0.75, .co2 = 0.25}));
  EXPECT_EQ(objective_of("3*ocr+electricity"),
            (Objective{.throughput = 0.75, .electricity = 0.25}));
}

TEST(Objectives, RefuseOtherTexts) {
  for (const char* text :
       {"", "+", "delay+", "nox", "delay+nox", "delay+delay", "0*delay+co2", "-1*delay+co2",
        "nan*delay", "inf*co2", "1e400*co2", "x*co2", "2 *co2", "auto+co2", "*co2", "2co2"}) {
    EXPECT_THAT(refuse_objective(text), ::testing::HasSubstr("0.75*delay+0.25*co2")) << text;
    EXPECT_THROW(objective_of(text), ConfigError) << text;
  }
}

TEST(Objectives, AskForEmissions) {
  EXPECT_FALSE(objective_of("ocr+delay").needs_emissions());
  EXPECT_TRUE(objective_of("delay+co2").needs_emissions());
  EXPECT_TRUE(objective_of("electricity").needs_emissions());
}

}  // namespace
}  // namespace traffic::config
