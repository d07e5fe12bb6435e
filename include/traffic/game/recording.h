/// Records a game and shows it as a web page or in a terminal.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "traffic/game/match.h"

namespace traffic::game {

struct Recording {
  std::array<std::string, kTeams> names;
  std::uint64_t seed = 0;
  std::vector<Board> boards;  ///< the start, then the board after each step
};
/// Plays a game and records it.
/// @param names names of the teams
Recording record_game(std::uint64_t seed, const std::array<Player, kTeams>& players,
                      const std::array<std::string, kTeams>& names);

/// A self-contained page that plays the game or shows single steps, with the lengths over time.
std::string replay_page(const Recording& recording);

/// One board in kTerminalLines lines. Heads are capital letters (A B C against D E F), other
/// segments are small letters, and beans are stars.
/// @param step index into recording.boards
/// @param colours whether to colour the text by escape sequences of terminals
std::string terminal_board(const Recording& recording, std::size_t step, bool colours);
inline constexpr int kTerminalLines = kRows + 3;

}  // namespace traffic::game
