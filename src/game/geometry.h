/// Cells, neighbours and distances on the board of the game, a torus: a snake that leaves the board
/// on one side enters it on the other side. Some functions are tables that the compiler computes.
#pragma once

#include <array>

#include "traffic/game/board.h"

namespace traffic::game {

constexpr Cell cell_at(int row, int column) {
  return static_cast<Cell>((row + kRows) % kRows * kColumns + (column + kColumns) % kColumns);
}

/// kNeighbours[direction][cell]: the cell next to a cell.
inline constexpr auto kNeighbours = [] {
  std::array<std::array<Cell, kCells>, kDirections> table{};
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      const Cell cell = cell_at(row, column);
      table[kUp][cell] = cell_at(row - 1, column);
      table[kDown][cell] = cell_at(row + 1, column);
      table[kLeft][cell] = cell_at(row, column - 1);
      table[kRight][cell] = cell_at(row, column + 1);
    }
  }
  return table;
}();

/// The shorter way from cell 0 to cell `by` round a ring of `size` cells. The result is a signed
/// number of cells in -size/2 .. (size-1)/2.
constexpr int wrapped(int by, int size) { return (by + size + size / 2) % size - size / 2; }

/// The shortest way from one cell to another: cells down and cells to the right; negative numbers
/// mean up and left.
struct Offset {
  int rows = 0;
  int columns = 0;
  [[nodiscard]] constexpr int steps() const {
    return (rows < 0 ? -rows : rows) + (columns < 0 ? -columns : columns);
  }
};
inline Offset offset(Cell from, Cell to) {
  return {.rows = wrapped(row_of(to) - row_of(from), kRows),
          .columns = wrapped(column_of(to) - column_of(from), kColumns)};
}

}  // namespace traffic::game
