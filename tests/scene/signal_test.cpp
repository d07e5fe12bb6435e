#include "traffic/scene/signal.h"

#include <gtest/gtest.h>

#include "traffic/core/error.h"

namespace traffic::scene {
namespace {

// Phase 0: link 0 green; phase 1: link 0 yellow; phase 2: link 1 green; phase 3: link 1 yellow.
// Link 2 is always green.
SignalProgram program() {
  return SignalProgram({{30, "GrG"}, {3, "yrG"}, {20, "rGG"}, {3, "ryg"}});
}

TEST(Signal, GreenEndsWithItsPhase) {
  const auto light = program().at(0, 12);
  EXPECT_EQ(light.state, "GrG");
  EXPECT_DOUBLE_EQ(light.change_s[0], 12);
}

TEST(Signal, RedEndsWhenTheNextGreenBegins) {
  EXPECT_DOUBLE_EQ(program().at(0, 12).change_s[1], 12 + 3);
  EXPECT_DOUBLE_EQ(program().at(1, 2).change_s[0], 2 + 20 + 3);  // yellow may not drive
}

TEST(Signal, AFutureGreenEndsWithItsOwnPhase) {
  EXPECT_DOUBLE_EQ(program().at(0, 12).green_end_s[0], 12);           // the present green
  EXPECT_DOUBLE_EQ(program().at(0, 12).green_end_s[1], 12 + 3 + 20);  // the next green
  EXPECT_DOUBLE_EQ(program().at(1, 2).green_end_s[0], 2 + 20 + 3 + 30);
  EXPECT_DOUBLE_EQ(program().at(2, 5).green_end_s[2], kSignalHorizonS);
}

TEST(Signal, ALinkThatNeverChangesHasTheHorizonAsTime) {
  EXPECT_DOUBLE_EQ(program().at(2, 5).change_s[2], kSignalHorizonS);
}

TEST(Signal, KnowsThePositionInTheCycle) {
  EXPECT_NEAR(program().at(2, 15).cycle_position, (30 + 3 + 5) / 56.0, 1e-12);
}

TEST(Signal, RefusesPhasesWithDifferentNumbersOfLinks) {
  EXPECT_THROW(SignalProgram({{1, "Gr"}, {1, "G"}}), Error);
}

}  // namespace
}  // namespace traffic::scene
