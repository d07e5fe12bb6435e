#include "traffic/scene/control_period.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "traffic/core/error.h"

namespace traffic::scene {
namespace {

using ::testing::ElementsAre;

std::vector<std::int64_t> frames_of(const ControlPeriod& period) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 1; step <= period.steps(); ++step) {
    if (period.frame_due(step)) steps.push_back(step);
  }
  return steps;
}

TEST(ControlPeriod, FramesAreASecondApartAndEndWithThePeriod) {
  EXPECT_THAT(frames_of({3.0, 1.0}), ElementsAre(1, 2, 3));
  EXPECT_THAT(frames_of({1.0, 0.5}), ElementsAre(2));
  EXPECT_THAT(frames_of({1.5, 0.5}), ElementsAre(1, 3));
  EXPECT_THAT(frames_of({2.5, 0.5}), ElementsAre(1, 3, 5));
  EXPECT_THAT(frames_of({0.5, 0.1}), ElementsAre(5));
  EXPECT_THAT(frames_of({2.5, 0.25}), ElementsAre(2, 6, 10));
}

TEST(ControlPeriod, IsAWholeNumberOfSteps) {
  EXPECT_THROW(ControlPeriod(1.5, 1.0), ConfigError);
  EXPECT_THROW(ControlPeriod(0.5, 1.0), ConfigError);
}

}  // namespace
}  // namespace traffic::scene
