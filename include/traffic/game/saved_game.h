/// Converts a game in progress to bytes for checkpoints: the board, then the generators of the
/// teams.
#pragma once

#include <cstddef>
#include <span>

#include "traffic/game/arena.h"

namespace traffic::game {

/// Size of a board without the padding at its end, whose bytes are arbitrary.
inline constexpr std::size_t kBoardBytes = offsetof(Board, rng) + sizeof(Rng);
inline constexpr std::size_t kGameBytes = kBoardBytes + sizeof(PlayerRngs);

void write_game(const Game& game, std::span<std::byte, kGameBytes> bytes);

/// Reads a game from bytes of unknown origin. It checks that all cells, lengths and directions are
/// in their ranges and consistent with each other.
/// @throws CheckpointError naming the invalid value
Game read_game(std::span<const std::byte, kGameBytes> bytes);

}  // namespace traffic::game
