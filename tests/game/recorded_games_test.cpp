#include "game/recorded_games.h"

#include <gtest/gtest.h>

namespace traffic::game::testing {
namespace {

TEST(RecordedGames, ComeOutAsInTheCompetitionsOwnProgram) {
  RecordedGames recorded(TRAFFIC_SOURCE_DIR "/tests/game/fixtures/recorded_games.gz");
  const Comparison result = compare(recorded);
  EXPECT_EQ(result.differences, 0);
  EXPECT_EQ(result.games, 20);
  EXPECT_EQ(result.steps, 4000);
  EXPECT_EQ(result.deaths, 1439);
}

}  // namespace
}  // namespace traffic::game::testing
