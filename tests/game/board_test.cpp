#include "traffic/game/board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "game/recorded_games.h"
#include "game/respawn.h"
#include "traffic/core/error.h"

namespace traffic::game {
namespace {

using testing::at;
using ::testing::ElementsAre;
using testing::State;
using testing::state_of;

/// Six snakes in rows 4 to 8, out of each other's way, heading right.
State quiet() {
  State state;
  for (int i = 0; i < kSnakes; ++i) {
    const int row = 4 + 2 * (i % 3);
    const int column = i < 3 ? 4 : 13;
    state.snakes[static_cast<std::size_t>(i)] = {at(row, column + 2), at(row, column + 1),
                                                 at(row, column)};
  }
  state.direction.fill(kRight);
  return state;
}

Actions all(Direction direction) {
  Actions actions;
  actions.fill(direction);
  return actions;
}

void expect_consistent(const Board& board) {
  std::array<int, kCells> counts{};
  const State state = state_of(board);
  for (const auto& snake : state.snakes) {
    for (const Cell cell : snake) ++counts[cell];
  }
  for (const Cell bean : state.beans) counts[bean] += Board::kBean;
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    ASSERT_EQ(counts[cell], board.contents[cell]) << "cell " << cell;
  }
}

TEST(Board, BeginsWithSixStraightSnakesAndFiveBeansApart) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Board board = start_board(seed);
    expect_consistent(board);
    const State state = state_of(board);
    EXPECT_EQ(state.beans.size(), 5U);
    for (std::size_t i = 0; i < kSnakes; ++i) {
      ASSERT_EQ(state.snakes[i].size(), 3U);
      const auto direction = static_cast<Direction>(state.direction[i]);
      EXPECT_EQ(neighbour(state.snakes[i][2], direction), state.snakes[i][1]);
      EXPECT_EQ(neighbour(state.snakes[i][1], direction), state.snakes[i][0]);
    }
  }
}

TEST(Board, TheSameSeedAndActionsGiveTheSameGame) {
  Board first = start_board(7);
  Board second = start_board(7);
  Board other = start_board(8);
  EXPECT_NE(state_of(first), state_of(other));
  Rng rng(1);
  while (!first.over) {
    Actions actions;
    for (auto& action : actions) action = static_cast<std::uint8_t>(rng.uniform_int(4));
    step(first, actions);
    step(second, actions);
    ASSERT_EQ(state_of(first), state_of(second));
  }
  EXPECT_EQ(first.num_steps, kMaxSteps);
  EXPECT_TRUE(second.over);
}

TEST(Board, RewardsAddUpToTheFinalLengthLessTheFirst) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Board board = start_board(seed);
    Rng rng(seed);
    std::array<int, kSnakes> sums{};
    while (!board.over) {
      Actions actions;
      for (auto& action : actions) action = static_cast<std::uint8_t>(rng.uniform_int(4));
      const StepResult result = step(board, actions);
      expect_consistent(board);
      for (std::size_t i = 0; i < kSnakes; ++i) sums[i] += result.rewards[i];
    }
    for (std::size_t i = 0; i < kSnakes; ++i) {
      EXPECT_EQ(sums[i], board.length[i] - kStartLength);
    }
  }
}

TEST(Board, AReversalBecomesEachOfTheOtherThreeEquallyOften) {
  const Board start = testing::board_of(quiet());
  Rng seeds(3);
  std::array<std::array<int, kDirections>, kSnakes> counts{};
  constexpr int kDraws = 9000;
  for (int draw = 0; draw < kDraws; ++draw) {
    Board board = start;
    board.rng = Rng(seeds.next_u64());
    Actions actions = all(kRight);
    actions[1] = actions[4] = kLeft;
    step(board, actions);
    for (std::size_t i = 0; i < kSnakes; ++i) ++counts[i][board.direction[i]];
  }
  for (std::size_t i = 0; i < kSnakes; ++i) {
    if (i == 1 || i == 4) {
      EXPECT_EQ(counts[i][kLeft], 0);
      for (const Direction way : {kUp, kDown, kRight}) {
        EXPECT_NEAR(counts[i][way], kDraws / 3, 5 * 45) << "more than five standard deviations off";
      }
    } else {
      EXPECT_EQ(counts[i][kRight], kDraws);
    }
  }
}

TEST(Board, ABeanGoesToTheFirstHeadOnItAndBothDie) {
  State state = quiet();
  state.snakes[0] = {at(0, 5), at(0, 4), at(0, 3)};
  state.snakes[3] = {at(0, 7), at(0, 8), at(0, 9), at(0, 10)};
  state.direction[3] = kLeft;
  state.beans = {at(0, 6), at(2, 2)};
  Board board = testing::board_of(state);
  Actions actions = all(kRight);
  actions[3] = kLeft;
  const StepResult result = advance(board, actions);
  EXPECT_EQ(result.ate, 0b000001);
  EXPECT_EQ(result.died, 0b001001);
  EXPECT_EQ(result.rewards[0], 0) << "the bean just eaten is not lost again";
  EXPECT_EQ(result.rewards[3], -1);
  EXPECT_THAT(state_of(board).beans, ElementsAre(at(2, 2)));
  expect_consistent(board);
}

TEST(Board, AHeadMayEnterTheCellThatATailLeaves) {
  State state = quiet();
  state.snakes[0] = {at(1, 1), at(1, 0), at(0, 0), at(0, 1)};  // curled up in four cells
  state.direction[0] = kRight;
  Board board = testing::board_of(state);
  Actions actions = all(kRight);
  actions[0] = kUp;
  EXPECT_EQ(advance(board, actions).died, 0);
  EXPECT_THAT(state_of(board).snakes[0], ElementsAre(at(0, 1), at(1, 1), at(1, 0), at(0, 0)));
}

TEST(Board, BeansFillTheFreeCellsAtRandom) {
  Board board = testing::board_of(quiet());
  std::array<int, kCells> counts{};
  constexpr int kDraws = 4000;
  for (int draw = 0; draw < kDraws; ++draw) {
    Board filled = board;
    filled.rng = Rng(static_cast<std::uint64_t>(draw));
    refill_beans(filled);
    ASSERT_EQ(filled.num_beans, kBeans);
    for (const Cell bean : filled.beans) ++counts[bean];
  }
  const double mean = kDraws * kBeans / double{kCells - kSnakes * kStartLength};
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    if (board.contents[cell] != 0) {
      EXPECT_EQ(counts[cell], 0);
    } else {
      EXPECT_NEAR(counts[cell], mean, 5 * std::sqrt(mean))
          << "more than five standard deviations off";
    }
  }
}

TEST(Board, ASnakeThatFindsNoThreeFreeCellsStaysAway) {
  // As on a chessboard, every other cell is taken, so no two free cells are neighbours. After the
  // first check one of the taken cells becomes free.
  State state = quiet();
  for (auto& snake : state.snakes) snake.clear();
  for (int cell = 0; cell < kCells; ++cell) {
    if ((cell / kColumns + cell % kColumns) % 2 == 1) continue;
    state.snakes[static_cast<std::size_t>(cell % 5)].push_back(static_cast<Cell>(cell));
  }
  state.snakes[5] = {at(6, 7)};
  Board board = testing::board_of(state);
  board.length[5] = 0;
  EXPECT_FALSE(respawn(board, 5));
  --board.contents[at(6, 8)];
  ASSERT_TRUE(respawn(board, 5));
  EXPECT_THAT(state_of(board).snakes[5], ElementsAre(at(5, 8), at(6, 8), at(6, 9)));
}

/// A snake that fills the first `columns` columns of two rows as a loop: its head is beside its own
/// tail.
std::vector<Cell> loop(int row, int columns) {
  std::vector<Cell> cells;
  for (int column = 0; column < columns; ++column) cells.push_back(at(row, column));
  for (int column = columns; column > 0; --column) cells.push_back(at(row + 1, column - 1));
  return cells;
}

TEST(Board, AGameWithoutRoomForAnotherSetOfBeansIsOver) {
  State state = quiet();
  for (int i = 0; i < 5; ++i) {
    state.snakes[static_cast<std::size_t>(i)] = loop(2 * i, i < 4 ? kColumns : 16);
  }
  state.direction = {kUp, kUp, kUp, kUp, kUp, kRight};
  state.snakes[5] = {at(8, 18), at(8, 17), at(8, 16)};
  Actions actions = all(kDown);
  actions[5] = kRight;
  Board board = testing::board_of(state);
  EXPECT_EQ(advance(board, actions).died, 0);
  EXPECT_FALSE(board.over) << "195 of 200 cells are taken, so there is room for five beans";
  state.beans = {at(8, 19)};
  board = testing::board_of(state);
  EXPECT_EQ(advance(board, actions).ate, 0b100000);
  EXPECT_TRUE(board.over) << "196 of 200 cells are taken, so there is no room for five beans";
  EXPECT_THROW(advance(board, actions), Error);
}

TEST(Board, AnInvalidActionIsRefused) {
  Board board = start_board(1);
  Actions actions{};
  actions[5] = 4;
  EXPECT_THROW(step(board, actions), Error);
}

}  // namespace
}  // namespace traffic::game
