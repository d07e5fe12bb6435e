#include "traffic/game/paths.h"

#include <gtest/gtest.h>

#include <array>
#include <queue>

namespace traffic::game {
namespace {

/// Numbers of steps from a cell to all others around the taken cells, by a plain breadth-first
/// search; -1: there is no way.
std::array<int, kCells> plain_search(const std::array<bool, kCells>& taken, Cell start) {
  std::array<int, kCells> steps;
  steps.fill(-1);
  if (taken[start]) return steps;
  std::queue<Cell> open;
  open.push(start);
  steps[start] = 0;
  while (!open.empty()) {
    const Cell cell = open.front();
    open.pop();
    for (const Direction direction : {kUp, kDown, kLeft, kRight}) {
      const Cell next = neighbour(cell, direction);
      if (taken[next] || steps[next] >= 0) continue;
      steps[next] = steps[cell] + 1;
      open.push(next);
    }
  }
  return steps;
}

void expect_same_as_plain(const Board& board) {
  std::array<bool, kCells> taken{};
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    taken[cell] = (board.contents[cell] & ~unsigned{Board::kBean}) != 0;
  }
  for (const Cell tail : board.tail) taken[tail] = false;
  const Paths paths = find_paths(board);
  for (std::size_t i = 0; i < kSnakes; ++i) {
    for (const Direction direction : {kUp, kDown, kLeft, kRight}) {
      const auto steps = plain_search(taken, neighbour(board.head[i], direction));
      int room = 0;
      for (const int one : steps) room += one >= 0 ? 1 : 0;
      ASSERT_EQ(paths.room[i][direction], room);
      for (std::size_t bean = 0; bean < kBeans; ++bean) {
        const bool there = bean < board.num_beans && steps[board.beans[bean]] >= 0;
        ASSERT_EQ(paths.steps[i][direction][bean],
                  there ? steps[board.beans[bean]] + 1 : Paths::kNone);
      }
    }
  }
}

TEST(Paths, AreThoseOfAPlainSearch) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Board board = start_board(seed);
    Rng rng(seed);
    while (!board.over) {
      expect_same_as_plain(board);
      Actions actions;
      for (auto& action : actions) action = static_cast<std::uint8_t>(rng.uniform_int(4));
      step(board, actions);
    }
  }
}

TEST(Paths, LeadThroughNarrowWaysAndRoomsWithoutBeans) {
  // Walls of snakes laid at random over three quarters of the board.
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    std::array<Cell, kCells> cells;
    for (std::size_t i = 0; i < kCells; ++i) cells[i] = static_cast<Cell>(i);
    rng.shuffle(std::span<Cell>(cells));
    Position position;
    constexpr std::size_t kEach = 14;
    for (std::size_t i = 0; i < kSnakes; ++i) {
      position.snakes[i] = std::span(cells).subspan(i * kEach, kEach);
    }
    position.beans = std::span(cells).subspan(kSnakes * kEach, seed % (kBeans + 1));
    expect_same_as_plain(board_at(position, seed));
  }
}

}  // namespace
}  // namespace traffic::game
