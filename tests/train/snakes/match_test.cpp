#include "traffic/train/snakes/match.h"

#include <gmock/gmock.h>

#include <numeric>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

TEST(SnakesMatch, HasTheSameResultsAsPlayMatch) {
  std::vector<std::uint64_t> seeds(20);
  std::iota(seeds.begin(), seeds.end(), 7);
  const auto own = make_snakes_team("torus");
  const auto other = make_snakes_team("random");
  const auto found = play_snakes_match(*own, *other, seeds);
  const auto expected = game::play_match(own->player(), other->player(), 20, 7);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].own, expected[i].own);
    EXPECT_EQ(found[i].others, expected[i].others);
  }
  EXPECT_EQ(score_of(found).games, 40);
  EXPECT_EQ(score_of(found).win_percent, 100.0);
}

TEST(SnakesMatch, RefusesUnknownTeams) {
  EXPECT_THROW(make_snakes_team("strong"), ConfigError);
  EXPECT_THROW(make_snakes_team("checkpoint:/none/at/all.h5"), CheckpointError);
}

}  // namespace
}  // namespace traffic::train
