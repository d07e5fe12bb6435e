/// The new beginning of a snake that died.
#pragma once

#include <cstddef>
#include <span>

#include "traffic/game/board.h"

namespace traffic::game {

/// Lays a snake of length 0 into the first room for it: the first free cell by rows from which a
/// search of free cells (right, down, up, left) finds two more. Without beans refilled.
/// @return whether there is such room; if not, the snake stays away
bool respawn(Board& board, std::size_t snake);

/// Lays a snake into free cells, head first; its direction is left as it is.
void put_snake(Board& board, std::size_t snake, std::span<const Cell> cells);

}  // namespace traffic::game
