#include "traffic/game/features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "game/scene.h"
#include "traffic/game/match.h"

namespace traffic::game {
namespace {

using testing::at;
using testing::State;
using Features = std::array<float, kTeamSnakes * kNumFeatures>;

Features features_of(const Board& board, int team) {
  Features features;
  features.fill(-99.0F);
  const Paths paths = find_paths(board);
  write_features({.board = board, .paths = paths, .team = team}, features);
  return features;
}

State scene() { return testing::crowded_scene(); }

float of_direction(const Features& features, Direction direction, std::size_t which) {
  return features[direction * kFeaturesOfDirection + which];
}

/// The messages name what the features of a direction (features.h, counted from 0) describe here.
TEST(Features, SayWhatIsBesideTheHead) {
  const Features features = features_of(testing::board_of(scene()), 0);
  const auto all_of = [&](std::size_t which) {
    return std::array{of_direction(features, kUp, which), of_direction(features, kDown, which),
                      of_direction(features, kLeft, which), of_direction(features, kRight, which)};
  };
  EXPECT_EQ(all_of(0), (std::array{0.0F, 1.0F, 0.0F, 0.0F})) << "0: the snake's own neck is below";
  EXPECT_EQ(all_of(1), (std::array{0.0F, 0.0F, 0.0F, 0.0F})) << "1: no tail is beside the head";
  EXPECT_EQ(all_of(2), (std::array{1.0F, 0.0F, 0.0F, 1.0F})) << "2: the enemy's head is at (4, 11)";
  EXPECT_EQ(all_of(3), (std::array{0.0F, 0.0F, 1.0F, 0.0F}))
      << "3: the teammate's head is at (5, 8)";
  EXPECT_EQ(all_of(4), (std::array{0.0F, 0.0F, 1.0F, 0.0F})) << "4: the bean is at (5, 9)";
  EXPECT_FLOAT_EQ(of_direction(features, kLeft, 5), 1.0F);
  EXPECT_FLOAT_EQ(of_direction(features, kUp, 5), 1.0F / 3.0F)
      << "5: two ways up to a bean have three steps";
  EXPECT_FLOAT_EQ(of_direction(features, kLeft, 6), 0.0F)
      << "6: the teammate is as near to the bean on the left, and another snake as near to the "
         "bean at (8, 9)";
  EXPECT_EQ(all_of(7), (std::array{1.0F, 0.0F, 1.0F, 1.0F}))
      << "7: in three directions the room is at least twice the length";
}

TEST(Features, ListBeansByTheirWayAndOthersByDistance) {
  const Features features = features_of(testing::board_of(scene()), 0);
  EXPECT_FLOAT_EQ(features[kBeansAt + 0], 0.0F);
  EXPECT_FLOAT_EQ(features[kBeansAt + 1], -1.0F / 10.0F)
      << "the nearest bean is one column to the left";
  EXPECT_FLOAT_EQ(features[kBeansAt + 2], -3.0F / 5.0F) << "the second bean is three rows up";
  EXPECT_FLOAT_EQ(features[kBeansAt + 8], 0.0F) << "there is no fifth bean";
  EXPECT_FLOAT_EQ(features[kOthersAt + 1], -2.0F / 10.0F)
      << "the nearer teammate is two columns to the left";
  EXPECT_FLOAT_EQ(features[kOthersAt + 2], 0.3F) << "length of the nearer teammate";
  EXPECT_FLOAT_EQ(features[kOthersAt + 6], -1.0F / 5.0F) << "the nearest enemy is a row up";
  EXPECT_FLOAT_EQ(features[kOthersAt + 7], 1.0F / 10.0F);
  EXPECT_FLOAT_EQ(features[kOthersAt + 8], 0.5F);
  EXPECT_FLOAT_EQ(features[kOwnAt], 0.4F);
  EXPECT_FLOAT_EQ(features[kOwnAt + 2], -1.0F / 20.0F)
      << "the team has ten segments, the other team eleven";
  EXPECT_FLOAT_EQ(features[kOwnAt + 3], 0.0F);
  EXPECT_FLOAT_EQ(features[kNumFeatures + kOwnAt + 3], 1.0F)
      << "the teammate has its initial length";
}

TEST(Features, AreTheSameOnABoardShiftedOverTheEdge) {
  const State state = scene();
  const Features expected = features_of(testing::board_of(state), 0);
  for (int rows = 0; rows < kRows; rows += 3) {
    for (int columns = 0; columns < kColumns; columns += 3) {
      State shifted = state;
      const auto shift = [&](Cell& cell) {
        cell = at(row_of(cell) + rows, column_of(cell) + columns);
      };
      for (auto& snake : shifted.snakes) std::ranges::for_each(snake, shift);
      std::ranges::for_each(shifted.beans, shift);
      EXPECT_EQ(features_of(testing::board_of(shifted), 0), expected);
    }
  }
}

TEST(Features, AreTheSameForEitherTeamWhenTeamsChangePlaces) {
  const State state = scene();
  State changed = state;
  std::ranges::rotate(changed.snakes, changed.snakes.begin() + kTeamSnakes);
  std::ranges::rotate(changed.direction, changed.direction.begin() + kTeamSnakes);
  const Board board = testing::board_of(state);
  const Board other = testing::board_of(changed);
  EXPECT_EQ(features_of(board, 0), features_of(other, 1));
  EXPECT_EQ(features_of(board, 1), features_of(other, 0));
}

TEST(Features, StayInTheirRange) {
  const std::array<Player, kTeams> players{player_of(Opponent::kBfs), player_of(Opponent::kGreedy)};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    play_game(seed, players, [](const Board& board) {
      if (board.over) return;
      for (int team = 0; team < kTeams; ++team) {
        for (const float value : features_of(board, team)) ASSERT_LE(std::abs(value), 4.0F);
      }
    });
  }
}

}  // namespace
}  // namespace traffic::game
