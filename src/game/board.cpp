// The rules of the game 3v3 snakes: moves, collisions, beans and rewards (board.h).
#include "traffic/game/board.h"

#include <cstring>

#include "geometry.h"
#include "respawn.h"
#include "traffic/core/error.h"

namespace traffic::game {
namespace {

constexpr std::uint64_t kLowBits = 0x010101010101ULL;  ///< lowest bit of each snake's byte

std::uint64_t packed(const Actions& actions) {
  std::uint64_t word = 0;
  std::memcpy(&word, actions.data(), actions.size());
  return word;
}

/// A snake cannot reverse; a random move replaces a reversal. Each snake has three directions that
/// do not reverse it. The table has all 3^6 combinations for six snakes, so a single random number
/// chooses for all. An entry is the xor of the old and the new directions.
constexpr auto kTurns = [] {
  constexpr std::array<std::uint64_t, 3> kChanges{0, 2, 3};
  std::array<std::uint64_t, 729> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::size_t rest = i;
    for (int snake = 0; snake < kSnakes; ++snake, rest /= 3) {
      table[i] |= kChanges[rest % 3] << (8U * static_cast<unsigned>(snake));
    }
  }
  return table;
}();

Actions without_reversals(Board& board, const Actions& actions) {
  const std::uint64_t wanted = packed(actions);
  TRAFFIC_CHECK((wanted & ~(3 * kLowBits)) == 0,
                "the actions are {} {} {} {} {} {}, expected 0 to 3 each", actions[0], actions[1],
                actions[2], actions[3], actions[4], actions[5]);
  const std::uint64_t now = packed(board.direction);
  const std::uint64_t change = wanted ^ now;  // the byte of a snake that reverses is 1
  const std::uint64_t reversed = (change & ~(change >> 1U) & kLowBits) * 3;
  if (reversed == 0) return actions;
  const std::uint64_t turned = now ^ kTurns[board.rng.uniform_int(kTurns.size())];
  const std::uint64_t mixed = (wanted & ~reversed) | (turned & reversed);
  Actions result;
  std::memcpy(result.data(), &mixed, result.size());
  return result;
}

/// Moves all heads, and the tails of snakes that did not eat. @return one bit for each snake that
/// ate
unsigned move_all(Board& board, const Actions& actions) {
  unsigned ate = 0;
  for (std::size_t i = 0; i < kSnakes; ++i) {
    const Cell head = board.head[i];
    const Cell next = kNeighbours[actions[i]][head];
    board.towards_head[head] = next;
    const unsigned found = board.contents[next];
    const unsigned bean = found >> 7U;
    board.contents[next] = static_cast<std::uint8_t>((found & ~unsigned{Board::kBean}) + 1);
    const Cell tail = board.tail[i];
    board.contents[tail] = static_cast<std::uint8_t>(board.contents[tail] - (1 - bean));
    board.tail[i] = bean != 0 ? tail : board.towards_head[tail];
    board.length[i] = static_cast<std::uint8_t>(board.length[i] + bean);
    board.head[i] = next;
    ate |= bean << i;
  }
  board.direction = actions;
  return ate;
}

void forget_eaten_beans(Board& board) {
  std::uint8_t left = 0;
  for (std::uint8_t i = 0; i < board.num_beans; ++i) {
    const Cell bean = board.beans[i];
    if ((board.contents[bean] & Board::kBean) != 0) board.beans[left++] = bean;
  }
  board.num_beans = left;
}

void clear_snake(Board& board, std::size_t snake) {
  Cell cell = board.tail[snake];
  for (int left = board.length[snake]; left > 0; --left) {
    --board.contents[cell];
    cell = board.towards_head[cell];
  }
  board.length[snake] = 0;
}

int all_lengths(const Board& board) { return team_length(board, 0) + team_length(board, 1); }

/// Sets the rewards of snakes that died, and puts these snakes back onto the board. All dead snakes
/// leave the board before the first one returns.
void begin_again(Board& board, StepResult& result) {
  for (std::size_t i = 0; i < kSnakes; ++i) {
    if ((result.died >> i & 1U) == 0) continue;
    const int bean = result.ate >> i & 1;
    result.rewards[i] = static_cast<std::int8_t>(kStartLength - board.length[i] + bean);
    clear_snake(board, i);
  }
  for (std::size_t i = 0; i < kSnakes; ++i) {
    if ((result.died >> i & 1U) != 0 && !respawn(board, i)) board.over = true;
  }
}

}  // namespace

StepResult advance(Board& board, const Actions& actions) {
  TRAFFIC_CHECK(!board.over, "the game is over, so it has no further step");
  StepResult result;
  const unsigned ate = move_all(board, actions);
  unsigned died = 0;
  for (std::size_t i = 0; i < kSnakes; ++i) {
    died |= unsigned{board.contents[board.head[i]] > 1} << i;
    result.rewards[i] = static_cast<std::int8_t>(ate >> i & 1U);
  }
  result.ate = static_cast<std::uint8_t>(ate);
  result.died = static_cast<std::uint8_t>(died);
  if (ate != 0) forget_eaten_beans(board);
  if (died != 0) begin_again(board, result);
  ++board.num_steps;
  board.over |= board.num_steps >= kMaxSteps || all_lengths(board) + kBeans > kCells;
  return result;
}

void place_bean(Board& board, Cell cell) {
  TRAFFIC_CHECK(cell < kCells && board.contents[cell] == 0 && board.num_beans < kBeans,
                "cell {} is not free, or the board has all {} beans already", cell, kBeans);
  board.contents[cell] = Board::kBean;
  board.beans[board.num_beans++] = cell;
}

void refill_beans(Board& board) {
  int free = kCells - all_lengths(board) - board.num_beans;
  while (board.num_beans < kBeans && free > 0) {
    const auto cell = static_cast<Cell>(board.rng.uniform_int(kCells));
    if (board.contents[cell] != 0) continue;
    place_bean(board, cell);
    --free;
  }
}

StepResult step(Board& board, const Actions& actions) {
  const StepResult result = advance(board, without_reversals(board, actions));
  if (board.num_beans < kBeans) refill_beans(board);
  return result;
}

Board start_board(std::uint64_t seed) {
  Board board;
  board.rng = Rng(seed);
  for (std::size_t i = 0; i < kSnakes; ++i) {
    std::array<Cell, kStartLength> cells{};
    Direction direction{};
    do {  // draws three cells in a line, until all three are free
      cells.back() = static_cast<Cell>(board.rng.uniform_int(kCells));
      direction = static_cast<Direction>(board.rng.uniform_int(kDirections));
      cells[1] = neighbour(cells[2], direction);
      cells[0] = neighbour(cells[1], direction);
    } while (board.contents[cells[0]] + board.contents[cells[1]] + board.contents[cells[2]] != 0);
    put_snake(board, i, cells);
    board.direction[i] = direction;
  }
  refill_beans(board);
  return board;
}

Board board_at(const Position& position, std::uint64_t seed) {
  Board board;
  board.rng = Rng(seed);
  for (std::size_t i = 0; i < kSnakes; ++i) put_snake(board, i, position.snakes[i]);
  board.direction = position.direction;
  for (const Cell bean : position.beans) place_bean(board, bean);
  return board;
}

void put_snake(Board& board, std::size_t snake, std::span<const Cell> cells) {
  TRAFFIC_CHECK(!cells.empty(), "snake {} has no segments", snake);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    TRAFFIC_CHECK(cells[i] < kCells && board.contents[cells[i]] == 0,
                  "snake {} cannot lie in cell {}, which is not free", snake, cells[i]);
    board.contents[cells[i]] = 1;
    if (i > 0) board.towards_head[cells[i]] = cells[i - 1];
  }
  board.head[snake] = cells.front();
  board.tail[snake] = cells.back();
  board.length[snake] = static_cast<std::uint8_t>(cells.size());
}

std::size_t segments(const Board& board, int snake, std::span<Cell, kCells> cells) {
  const auto i = static_cast<std::size_t>(snake);
  const std::size_t length = board.length[i];
  Cell cell = board.tail[i];
  for (std::size_t left = length; left > 0; --left) {
    cells[left - 1] = cell;
    cell = board.towards_head[cell];
  }
  return length;
}

Cell neighbour(Cell cell, Direction direction) { return kNeighbours[direction][cell]; }

int team_length(const Board& board, int team) {
  const auto first = static_cast<std::size_t>(first_snake(team));
  return board.length[first] + board.length[first + 1] + board.length[first + 2];
}

}  // namespace traffic::game
