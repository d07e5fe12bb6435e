/// A game to look at: as a page for a browser, and in a terminal.
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
  std::vector<Board> boards;  ///< the start, and after every step
};
/// @param names of the teams
Recording record_game(std::uint64_t seed, const std::array<Player, kTeams>& players,
                      const std::array<std::string, kTeams>& names);

/// A page without other files: the board, played or step by step, and the lengths over time.
std::string replay_page(const Recording& recording);

/// One board in kTerminalLines lines: heads are capitals, team A B C against D E F, beans are
/// stars.
/// @param step below boards.size()
/// @param colours as escape sequences of terminals
std::string terminal_board(const Recording& recording, std::size_t step, bool colours);
inline constexpr int kTerminalLines = kRows + 3;

}  // namespace traffic::game
