// Converts a game in progress to bytes for checkpoints, and checks bytes that are read back.
#include "traffic/game/saved_game.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "traffic/core/error.h"

namespace traffic::game {
namespace {

static_assert(std::is_trivially_copyable_v<Game>);

void require(bool holds, const char* what) {
  if (!holds) throw CheckpointError("a saved game has {}; use another checkpoint", what);
}

/// Whether all numbers are below a limit.
bool all_below(std::span<const std::uint8_t> numbers, int limit) {
  return std::ranges::all_of(numbers, [limit](std::uint8_t number) { return number < limit; });
}

/// Follows a snake from its tail to its head, and adds its segments to `contents`, the number of
/// segments in each cell.
void add_snake(const Board& board, std::size_t snake, std::span<std::uint8_t, kCells> contents) {
  Cell cell = board.tail[snake];
  for (int left = board.length[snake]; left > 1; --left) {
    ++contents[cell];
    cell = board.towards_head[cell];
  }
  require(cell == board.head[snake], "a snake whose segments do not lead to its head");
  ++contents[cell];
}

/// Checks that the board is that of a game between two steps. No two segments or beans then share a
/// cell, because snakes that collided have died.
void check_board(const Board& board) {
  require(board.num_beans <= kBeans, "more beans than there may be");
  require(board.num_steps < kMaxSteps, "more steps than a game has");
  require(all_below(board.towards_head, kCells) && all_below(board.head, kCells) &&
              all_below(board.tail, kCells) && all_below(board.beans, kCells),
          "a cell that is not on the board");
  require(all_below(board.direction, kDirections), "a direction that does not exist");
  int length = 0;
  for (const std::uint8_t of_snake : board.length) {
    require(of_snake > 0, "a snake without segments");
    length += of_snake;
  }
  require(length + kBeans <= kCells, "snakes that do not fit on the board");
  std::array<std::uint8_t, kCells> contents{};
  for (std::size_t snake = 0; snake < kSnakes; ++snake) add_snake(board, snake, contents);
  for (std::size_t i = 0; i < board.num_beans; ++i) {
    require(contents[board.beans[i]] == 0, "a bean in a cell that is taken");
    contents[board.beans[i]] = Board::kBean;
  }
  const auto is_shared = [](std::uint8_t content) {
    return content > 1 && content != Board::kBean;
  };
  require(std::ranges::none_of(contents, is_shared), "two segments in one cell");
  require(contents == board.contents, "cells that do not contain its snakes and beans");
}

void check_generator(const Rng& rng) {
  require(rng.state() != Rng::State{}, "a random generator whose state is all zero");
}

}  // namespace

void write_game(const Game& game, std::span<std::byte, kGameBytes> bytes) {
  std::memcpy(bytes.data(), &game.board, kBoardBytes);
  std::memcpy(bytes.data() + kBoardBytes, &game.rngs, sizeof(game.rngs));
}

Game read_game(std::span<const std::byte, kGameBytes> bytes) {
  // Checked before the copy: a bool whose byte is neither 0 nor 1 would be undefined behaviour.
  require(bytes[offsetof(Board, over)] == std::byte{0}, "ended");
  Game game;
  std::memcpy(static_cast<void*>(&game.board), bytes.data(), kBoardBytes);
  std::memcpy(static_cast<void*>(&game.rngs), bytes.data() + kBoardBytes, sizeof(game.rngs));
  check_board(game.board);
  check_generator(game.board.rng);
  for (const Rng& rng : game.rngs) check_generator(rng);
  return game;
}

}  // namespace traffic::game
