/// The game "3v3 snakes": two teams of three snakes eat beans on a torus for 200 steps.
///
/// Snakes 0..2 play against 3..5. A step: the snakes move in order, and a bean goes to the first
/// head on it; who eats keeps its tail, else that leaves. Then every head that shares its cell with
/// any other segment dies: the snake loses the segments that it has grown by, and begins again in
/// the first room for it (by rows, from the upper left). Then the beans are refilled. The rewards
/// of an episode add up to the final length minus the length at the start. The rules are those of
/// the competition of CCF and Jidi AI (github.com/jidiai/Competition_3v3snakes).
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

/// Row times kColumns plus column.
using Cell = std::uint8_t;

enum Direction : std::uint8_t { kUp, kDown, kLeft, kRight };
inline constexpr int kDirections = 4;

/// A Direction for each snake, in the order of the snakes.
using Actions = std::array<std::uint8_t, kSnakes>;

/// One board in eight cache lines, to be copied as a value; everything that its future depends on
/// but the actions, so that it may be saved and continued anywhere. Which cell a snake will be in
/// next is kept in the cell it is in, so that a step touches heads and tails only.
struct alignas(64) Board {
  static constexpr std::uint8_t kBean = 0x80;

  std::array<std::uint8_t, kCells> contents{};  ///< number of segments, and kBean
  std::array<Cell, kCells>
      towards_head{};  ///< cell of the next segment towards the head; unused for heads
  std::array<Cell, kSnakes> head{};
  std::array<Cell, kSnakes> tail{};
  std::array<std::uint8_t, kSnakes> length{};
  Actions direction{};  ///< of the last move
  std::array<Cell, kBeans> beans{};
  std::uint8_t num_beans = 0;
  std::uint8_t num_steps = 0;
  bool over = false;
  Rng rng{0};  ///< reversals and beans
};

/// Result of a step for each snake.
struct StepResult {
  std::array<std::int8_t, kSnakes>
      rewards{};          ///< +1 a bean; death: kStartLength - length before it
  std::uint8_t ate = 0;   ///< one bit for each snake
  std::uint8_t died = 0;  ///< one bit for each snake
};

/// A new game: snakes in line, anywhere, and beans. All its chance comes from the seed.
Board start_board(std::uint64_t seed);

/// One step of all snakes. An action back into the snake's own neck is replaced by one of the other
/// three at random. The game must not be over.
/// @param actions each below kDirections
StepResult step(Board& board, const Actions& actions);

/// The part of a step without chance: no action is replaced, beans are not refilled.
StepResult advance(Board& board, const Actions& actions);
/// New beans in free cells, up to kBeans; the part with chance.
void refill_beans(Board& board);
/// Puts a bean into a free cell.
void place_bean(Board& board, Cell cell);

/// A game given by its snakes, segments head first, with no step made yet.
struct Position {
  std::array<std::span<const Cell>, kSnakes> snakes{};
  Actions direction{};
  std::span<const Cell> beans{};
};
Board board_at(const Position& position, std::uint64_t seed);

/// Writes a snake's cells, head first. @return how many
std::size_t segments(const Board& board, int snake, std::span<Cell, kCells> cells);

/// The cell beside, over the edge if need be.
Cell neighbour(Cell cell, Direction direction);

[[nodiscard]] inline int row_of(Cell cell) { return cell / kColumns; }
[[nodiscard]] inline int column_of(Cell cell) { return cell % kColumns; }
[[nodiscard]] inline int team_of(int snake) { return snake / kTeamSnakes; }
[[nodiscard]] inline int first_snake(int team) { return team * kTeamSnakes; }
/// Length of all its snakes: more than the other's at the end wins.
int team_length(const Board& board, int team);

}  // namespace traffic::game
