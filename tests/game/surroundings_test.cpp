#include "traffic/game/surroundings.h"

#include <gtest/gtest.h>

#include <array>

#include "game/scene.h"

namespace traffic::game {
namespace {

using testing::at;
using testing::State;
using Numbers = std::array<float, kNumSurroundings>;

Numbers surroundings_of(const State& state, int snake) {
  Numbers out;
  out.fill(-99.0F);
  const Board board = board_of(state);
  const Paths paths = find_paths(board);
  const View view{.board = board, .paths = paths, .team = team_of(snake)};
  Surroundings(view).write(snake, out);
  return out;
}

/// crowded_scene() with two beans only.
State some_scene() {
  State state = testing::crowded_scene();
  state.beans = {at(2, 10), at(5, 9)};
  return state;
}

/// The two features of the cell at this offset from the head: segment or tail, then head.
std::array<float, 2> cell_of(const Numbers& s, int rows, int columns) {
  int index = (rows + kWindowRadius) * (2 * kWindowRadius + 1) + columns + kWindowRadius;
  if (rows > 0 || (rows == 0 && columns > 0)) --index;
  const auto first = static_cast<std::size_t>(3 * kBeans + 2 * index);
  return {s[first], s[first + 1]};
}

TEST(Surroundings, SayWhoIsNearerToEachBean) {
  const Numbers s = surroundings_of(some_scene(), 0);
  EXPECT_FLOAT_EQ(s[0], 1.0F);  // a bean beside the head and beside the teammate
  EXPECT_FLOAT_EQ(s[1], 1.0F);
  EXPECT_FLOAT_EQ(s[2], 1.0F / 3);
  EXPECT_FLOAT_EQ(s[3], 1.0F / 3);  // the bean ahead
  EXPECT_FLOAT_EQ(s[5], 1.0F / 3);  // an enemy is as near to the bean ahead
  for (std::size_t i = 6; i < 3 * kBeans; ++i) EXPECT_EQ(s[i], 0.0F) << "there are no more beans";
}

TEST(Surroundings, ShowTheCellsAroundTheHeadAsTheyLieOnTheTorus) {
  using Pair = std::array<float, 2>;
  const Numbers s = surroundings_of(some_scene(), 0);
  EXPECT_EQ(cell_of(s, -1, 0), (Pair{0.0F, 0.0F}));
  EXPECT_EQ(cell_of(s, 1, 0), (Pair{1.0F, 0.0F}));
  EXPECT_EQ(cell_of(s, 3, 0), (Pair{0.25F, 0.0F}));  // its own tail
  EXPECT_EQ(cell_of(s, -1, 1), (Pair{1.0F, 1.0F}));
  EXPECT_EQ(cell_of(s, 0, -2), (Pair{1.0F, -1.0F}));
  EXPECT_EQ(cell_of(s, 2, -2), (Pair{0.25F, 0.0F}));
  const Numbers of_corner = surroundings_of(some_scene(), 2);  // heads right at (0, 0)
  EXPECT_EQ(cell_of(of_corner, 0, -1), (Pair{1.0F, 0.0F}));
  EXPECT_EQ(cell_of(of_corner, -1, 2), (Pair{1.0F, 1.0F}));
  EXPECT_EQ(cell_of(of_corner, 2, 2), (Pair{1.0F, 1.0F}));
}

}  // namespace
}  // namespace traffic::game
