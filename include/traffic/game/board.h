/// The game "3v3 snakes": two teams of three snakes eat beans on a torus for 200 steps.
///
/// Snakes 0..2 play against snakes 3..5. A step consists of three parts:
///
/// 1. The snakes move in the order of their numbers. The first head that reaches a bean eats it. A
///   snake that eats grows by one segment: its tail stays. The tails of all other snakes move on.
/// 2. A snake whose head shares its cell with any other segment dies. It returns with kStartLength
///    segments in the first place with enough free cells, searched by rows from the upper left.
/// 3. New beans replace the eaten ones.
///
/// The rewards of a snake in an episode add up to its final length minus its length at the start.
/// The rules are those of the competition of CCF and Jidi AI
/// (github.com/jidiai/Competition_3v3snakes).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "traffic/core/random.h"

namespace traffic::game {

inline constexpr int kRows = 10;
inline constexpr int kColumns = 20;
inline constexpr int kCells = kRows * kColumns;
inline constexpr int kSnakes = 6;
inline constexpr int kTeams = 2;
inline constexpr int kTeamSnakes = 3;
inline constexpr int kBeans = 5;
inline constexpr int kStartLength = 3;
inline constexpr int kMaxSteps = 200;

/// Number of a cell: row * kColumns + column. Row 0 is at the top, column 0 on the left.
using Cell = std::uint8_t;

enum Direction : std::uint8_t { kUp, kDown, kLeft, kRight };
inline constexpr int kDirections = 4;

/// A Direction for each snake, in the order of the snakes.
using Actions = std::array<std::uint8_t, kSnakes>;

/// The whole state of a game. It takes eight cache lines and may be copied. Given the actions, the
/// board determines how the game goes on, so a saved board can be continued anywhere. Each cell of
/// a snake stores the cell of the next segment towards the head, so a step changes heads and tails
/// only.
struct alignas(64) Board {
  static constexpr std::uint8_t kBean = 0x80;  ///< bit of `contents`: the cell has a bean

  std::array<std::uint8_t, kCells> contents{};  ///< number of segments in the cell; plus kBean
  std::array<Cell, kCells>
      towards_head{};  ///< cell of the next segment towards the head; unused for heads
  std::array<Cell, kSnakes> head{};
  std::array<Cell, kSnakes> tail{};
  std::array<std::uint8_t, kSnakes> length{};
  Actions direction{};  ///< directions of the last moves
  std::array<Cell, kBeans> beans{};
  std::uint8_t num_beans = 0;
  std::uint8_t num_steps = 0;
  bool over = false;
  Rng rng{0};  ///< places beans, and replaces moves backwards by other moves
};

/// Result of a step for each snake.
struct StepResult {
  /// 1 for an eaten bean. A snake that dies loses 1 for each segment by which it had grown before
  /// the step.
  std::array<std::int8_t, kSnakes> rewards{};
  std::uint8_t ate = 0;   ///< bit i: snake i ate a bean
  std::uint8_t died = 0;  ///< bit i: snake i died
};

/// A new game: straight snakes and the beans lie in random places, which the seed determines.
Board start_board(std::uint64_t seed);

/// One step of all snakes. An action opposite to the snake's last direction is replaced by a random
/// one of the other three directions. The game must not be over.
/// @param actions each below kDirections
StepResult step(Board& board, const Actions& actions);

/// The part of a step that needs no random numbers: no action is replaced, no bean is added.
StepResult advance(Board& board, const Actions& actions);
/// Puts beans into random free cells until there are kBeans or no cell is free.
void refill_beans(Board& board);
/// Puts a bean into this cell, which must be free.
void place_bean(Board& board, Cell cell);

/// The position from which board_at() starts a game.
struct Position {
  std::array<std::span<const Cell>, kSnakes> snakes{};  ///< cells of each snake, head first
  Actions direction{};
  std::span<const Cell> beans{};
};
/// A game that starts from a given position.
Board board_at(const Position& position, std::uint64_t seed);

/// Writes a snake's cells, head first. @return number of cells
std::size_t segments(const Board& board, int snake, std::span<Cell, kCells> cells);

/// Neighbour of a cell in this direction. The neighbour of a cell at an edge of the board may lie
/// at the opposite edge.
Cell neighbour(Cell cell, Direction direction);

[[nodiscard]] inline int row_of(Cell cell) { return cell / kColumns; }
[[nodiscard]] inline int column_of(Cell cell) { return cell % kColumns; }
[[nodiscard]] inline int team_of(int snake) { return snake / kTeamSnakes; }
[[nodiscard]] inline int first_snake(int team) { return team * kTeamSnakes; }
/// Sum of the lengths of a team's snakes. The team with the larger sum at the end wins.
int team_length(const Board& board, int team);

}  // namespace traffic::game
