// Records a game, and shows it as a web page or in a terminal (recording.h).
#include "traffic/game/recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "replay_script.h"
#include "traffic/core/text.h"

namespace traffic::game {
namespace {

/// What the terminal shows for a cell.
struct Mark {
  char letter = '.';  ///< '.' for an empty cell, '*' for a bean, or the letter of a snake
  int team = -1;      ///< -1: no snake
};
using Picture = std::array<Mark, kCells>;

Picture picture_of(const Board& board) {
  Picture picture;
  for (std::size_t i = 0; i < board.num_beans; ++i) picture[board.beans[i]].letter = '*';
  for (int snake = 0; snake < kSnakes; ++snake) {
    std::array<Cell, kCells> cells;
    const std::size_t length = segments(board, snake, cells);
    for (std::size_t i = 0; i < length; ++i) {
      picture[cells[i]] = {.letter = static_cast<char>((i == 0 ? 'A' : 'a') + snake),
                           .team = team_of(snake)};
    }
  }
  return picture;
}

std::string coloured(Mark mark, bool colours) {
  constexpr std::array<int, kTeams> kTeamColours{34, 33};  // blue and yellow
  if (!colours) return {mark.letter, ' '};
  if (mark.team < 0) {
    return mark.letter == '*' ? "\x1b[1;32m* \x1b[0m"
                              : fmt::format("\x1b[2m{} \x1b[0m", mark.letter);
  }
  return fmt::format("\x1b[1;{}m{} \x1b[0m", kTeamColours[static_cast<std::size_t>(mark.team)],
                     mark.letter);
}

/// The board as a JavaScript array: [[cells of snake 0, head first], ..., [cells of the beans]]
std::string frame_of(const Board& board) {
  std::string text = "[";
  for (int snake = 0; snake < kSnakes; ++snake) {
    std::array<Cell, kCells> cells;
    const std::size_t length = segments(board, snake, cells);
    text += fmt::format("[{}],", fmt::join(cells.data(), cells.data() + length, ","));
  }
  return text + fmt::format("[{}]]", fmt::join(board.beans.data(),
                                               board.beans.data() + board.num_beans, ","));
}

}  // namespace

Recording record_game(std::uint64_t seed, const std::array<Player, kTeams>& players,
                      const std::array<std::string, kTeams>& names) {
  Recording recording{.names = names, .seed = seed, .boards = {}};
  play_game(seed, players, [&](const Board& board) { recording.boards.push_back(board); });
  return recording;
}

std::string terminal_board(const Recording& recording, std::size_t step, bool colours) {
  const Board& board = recording.boards.at(step);
  const Picture picture = picture_of(board);
  std::string text = fmt::format("step {:3} of {:3}   seed {}\n", board.num_steps,
                                 recording.boards.back().num_steps, recording.seed);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      text += coloured(picture[row * kColumns + column], colours);
    }
    text += '\n';
  }
  for (int team = 0; team < kTeams; ++team) {
    const std::size_t first = static_cast<std::size_t>(first_snake(team));
    const char letter = static_cast<char>('A' + first_snake(team));
    text += fmt::format("{:<24} {:3}   {} {:3}   {} {:3}   {} {:3}\n",
                        recording.names[static_cast<std::size_t>(team)], team_length(board, team),
                        letter, board.length[first], static_cast<char>(letter + 1),
                        board.length[first + 1], static_cast<char>(letter + 2),
                        board.length[first + 2]);
  }
  return text;
}

std::string replay_page(const Recording& recording) {
  std::string frames;
  for (const Board& board : recording.boards) frames += frame_of(board) + ",\n";
  const std::string own = html_escaped(recording.names[0]);
  const std::string other = html_escaped(recording.names[1]);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\">"
      "<title>{0} against {1}</title><style>{2}</style></head>\n<body>\n"
      "<h1><span class=\"team0\">{0}</span> against <span class=\"team1\">{1}</span></h1>\n"
      "<p>3v3 snakes, seed {3}</p>\n",
      own, other, kReplayStyle, recording.seed);
  html += kReplayBody;
  fmt::format_to(
      std::back_inserter(html),
      "<script>\nconst rows = {}, columns = {}, teamSnakes = {};\nconst frames = [\n{}];\n", kRows,
      kColumns, kTeamSnakes, frames);
  return html + kReplayScript + "</script>\n</body></html>\n";
}

}  // namespace traffic::game
