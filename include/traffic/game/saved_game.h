/// A game in play as bytes, for checkpoints: the board, then the generator of each team.
#pragma once

#include <cstddef>
#include <span>

#include "traffic/game/arena.h"

namespace traffic::game {

/// All of a board but the padding behind it, whose bytes are arbitrary.
inline constexpr std::size_t kBoardBytes = offsetof(Board, rng) + sizeof(Rng);
inline constexpr std::size_t kGameBytes = kBoardBytes + sizeof(PlayerRngs);

void write_game(const Game& game, std::span<std::byte, kGameBytes> bytes);

/// Reads a game from bytes of unknown origin. In the result every cell, length and direction is in
/// its range, and all are consistent with each other.
/// @throws CheckpointError naming the invalid value
Game read_game(std::span<const std::byte, kGameBytes> bytes);

}  // namespace traffic::game
