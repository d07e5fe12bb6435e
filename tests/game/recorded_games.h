/// Reads games that the competition's own program played, and compares them with the same moves on
/// a Board.
///
/// The file is gzipped. It begins with "SNAKES1\n", and the letter E ends it. A game consists of
/// the letter G, a state, and its steps. A step consists of the letter S, the six directions in
/// which the snakes went, six rewards, whether the game is over, and a state. A state lists for
/// each snake its direction, its length and its cells, head first; then the number of beans and
/// their cells. Every number is one byte.
#pragma once

#include <zlib.h>

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/game/board.h"

namespace traffic::game::testing {

/// The cell at a row and column, which may be one step beyond the edge of the board.
inline Cell at(int row, int column) {
  return static_cast<Cell>((row + kRows) % kRows * kColumns + (column + kColumns) % kColumns);
}

struct State {
  std::array<std::vector<Cell>, kSnakes> snakes;
  Actions direction{};
  std::vector<Cell> beans;
  bool operator==(const State&) const = default;
};

inline State state_of(const Board& board) {
  State state;
  for (int i = 0; i < kSnakes; ++i) {
    std::array<Cell, kCells> cells;
    const std::size_t length = segments(board, i, cells);
    state.snakes[static_cast<std::size_t>(i)].assign(cells.data(), cells.data() + length);
  }
  state.direction = board.direction;
  state.beans.assign(board.beans.data(), board.beans.data() + board.num_beans);
  return state;
}

class RecordedGames {
 public:
  explicit RecordedGames(const std::string& path) {
    gzFile file = gzopen(path.c_str(), "rb");
    TRAFFIC_CHECK(file != nullptr, "{} cannot be opened", path);
    std::array<char, 65536> block;
    for (int n = 0; (n = gzread(file, block.data(), block.size())) > 0;) {
      bytes_.append(block.data(), static_cast<std::size_t>(n));
    }
    gzclose(file);
    TRAFFIC_CHECK(bytes_.starts_with("SNAKES1\n"), "{} holds no recorded games", path);
    at_ = 8;
  }

  char kind() { return static_cast<char>(byte()); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(bytes_.at(at_++)); }
  Actions directions() {
    Actions all;
    for (std::uint8_t& one : all) one = byte();
    return all;
  }
  State state() {
    State state;
    for (std::size_t i = 0; i < kSnakes; ++i) {
      state.direction[i] = byte();
      state.snakes[i] = cells();
    }
    state.beans = cells();
    return state;
  }

 private:
  std::vector<Cell> cells() {
    std::vector<Cell> all(byte());
    for (Cell& one : all) one = byte();
    return all;
  }

  std::string bytes_;
  std::size_t at_ = 0;
};

inline Board board_of(const State& state) {
  Position position{.direction = state.direction, .beans = state.beans};
  for (std::size_t i = 0; i < kSnakes; ++i) position.snakes[i] = state.snakes[i];
  return board_at(position, 0);
}

struct Comparison {
  int games = 0;
  int steps = 0;
  int deaths = 0;
  int beans = 0;
  int differences = 0;  ///< steps after which anything differs
};

/// Makes every recorded move. Takes over what the original program drew at random (the replacement
/// of a reversal, new beans) and compares everything else.
inline Comparison compare(RecordedGames& recorded) {
  Comparison result;
  Board board;
  for (char kind = recorded.kind(); kind != 'E'; kind = recorded.kind()) {
    if (kind == 'G') {
      ++result.games;
      board = board_of(recorded.state());
      continue;
    }
    const StepResult step = advance(board, recorded.directions());
    bool same = true;
    for (const std::int8_t reward : step.rewards) {
      same &= reward == static_cast<std::int8_t>(recorded.byte());
    }
    same &= board.over == (recorded.byte() != 0);
    const State expected = recorded.state();
    for (std::size_t i = board.num_beans; i < expected.beans.size(); ++i) {
      place_bean(board, expected.beans[i]);
    }
    same &= state_of(board) == expected;
    ++result.steps;
    result.deaths += std::popcount(step.died);
    result.beans += std::popcount(step.ate);
    result.differences += same ? 0 : 1;
  }
  return result;
}

}  // namespace traffic::game::testing
