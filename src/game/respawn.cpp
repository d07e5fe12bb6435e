// Puts a snake that has died back onto the board (respawn.h).
#include "respawn.h"

#include <array>
#include <optional>
#include <utility>

#include "geometry.h"

namespace traffic::game {
namespace {

using Room = std::array<Cell, kStartLength>;

constexpr std::array<Direction, kDirections> kSearchOrder{kRight, kDown, kUp, kLeft};

/// The first three free cells that a breadth-first search from a cell finds (a room); nullopt if it
/// finds fewer.
std::optional<Room> room_from(const Board& board, Cell start) {
  Room found{start};
  std::size_t count = 1;
  for (std::size_t from = 0; from < count; ++from) {
    for (const Direction direction : kSearchOrder) {
      const Cell next = kNeighbours[direction][found[from]];
      if (board.contents[next] != 0 || next == start) continue;
      found[count++] = next;
      if (count == found.size()) return found;
    }
  }
  return std::nullopt;
}

/// Sorts the cells of a room into the order of a snake. If the room is bent, its corner becomes the
/// middle cell. A straight room keeps the order of the search, as in the program of the
/// competition (board.h). Its first cell, the head, may then lie between the other two.
Room in_order(Room room) {
  const auto [first, second, third] = room;
  if (first == cell_at(row_of(second), column_of(third)) ||
      first == cell_at(row_of(third), column_of(second))) {
    std::swap(room[0], room[1]);
  }
  return room;
}

/// The direction of a snake, found by comparing the rows or columns of its first two cells. The
/// comparison ignores that a snake may lie across the edge of the board.
Direction direction_of(const Room& room) {
  if (row_of(room[0]) == row_of(room[1])) {
    return column_of(room[0]) > column_of(room[1]) ? kRight : kLeft;
  }
  return row_of(room[0]) > row_of(room[1]) ? kDown : kUp;
}

}  // namespace

bool respawn(Board& board, std::size_t snake) {
  for (Cell cell = 0; cell < kCells; ++cell) {
    if (board.contents[cell] != 0) continue;
    const auto found = room_from(board, cell);
    if (!found) continue;
    const Room room = in_order(*found);
    put_snake(board, snake, room);
    board.direction[snake] = direction_of(room);
    return true;
  }
  return false;
}

}  // namespace traffic::game
