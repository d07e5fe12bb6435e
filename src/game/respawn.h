/// Puts a snake that has died back onto the board.
#pragma once

#include <cstddef>
#include <span>

#include "traffic/game/board.h"

namespace traffic::game {

/// Puts a snake of length 0 into kStartLength free cells. It takes the first free cell by rows from
/// which a breadth-first search over free cells (right, down, up, left) finds two more.
/// @return false if there are no such cells; the snake then stays off the board
bool respawn(Board& board, std::size_t snake);

/// Puts a snake into free cells; its direction does not change.
/// @param cells head first
void put_snake(Board& board, std::size_t snake, std::span<const Cell> cells);

}  // namespace traffic::game
