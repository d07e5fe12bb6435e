// Searches the board for the ways from all heads to all beans, many searches at the same time
// (paths.h).
#include "traffic/game/paths.h"

#include <algorithm>
#include <cstring>

#include "geometry.h"
#include "traffic/core/vectorised.h"

namespace traffic::game {
namespace {

constexpr std::size_t kLanes = Paths::kLanes;
constexpr std::size_t kMoves = kSnakes * kDirections;

/// kLanes searches run at the same time, one in each lane of a vector. This type holds one row of
/// the board for each search, with one bit for each column. It is an explicit vector, because
/// compilers vectorise loops over an array but keep its values in memory.
using Lanes = std::uint32_t __attribute__((vector_size(kLanes * sizeof(std::uint32_t))));
using Bytes = std::uint8_t __attribute__((vector_size(kLanes)));
using Reached = std::array<Lanes, kRows>;
using Rows = std::array<std::uint32_t, kRows>;

/// A possible next move of a snake. It does not lead into a segment that stays.
struct Move {
  std::uint8_t index = 0;  ///< snake * kDirections + direction
  std::uint8_t row = 0;
  std::uint8_t column = 0;
};
struct Moves {
  std::array<Move, kMoves> move{};
  std::size_t count = 0;
};

/// One bit for each of eight cells: set if the cell has no segment.
unsigned free_bits(const std::uint8_t* contents) {
  constexpr std::uint64_t kLow = 0x0101010101010101ULL;
  std::uint64_t cells = 0;
  std::memcpy(&cells, contents, sizeof(cells));
  const std::uint64_t taken = ((cells & 0x7f * kLow) + 0x7f * kLow) >> 7U & kLow;
  // The product gathers the lowest bits of the bytes in the highest byte.
  return static_cast<unsigned>((taken ^ kLow) * 0x0102040810204080ULL >> 56U);
}

Rows free_cells(const Board& board) {
  static_assert(kColumns == 20);
  Rows rows{};
  for (std::size_t row = 0; row < kRows; ++row) {
    const std::uint8_t* contents = board.contents.data() + row * kColumns;
    rows[row] =
        free_bits(contents) | free_bits(contents + 8) << 8U | free_bits(contents + 12) >> 4U << 16U;
  }
  for (const Cell tail : board.tail) rows[tail / kColumns] |= 1U << tail % kColumns;
  return rows;
}

Moves next_moves(const Board& board, const Rows& free) {
  Moves moves;
  for (std::size_t m = 0; m < kMoves; ++m) {
    const Cell cell = kNeighbours[m % kDirections][board.head[m / kDirections]];
    const auto row = static_cast<std::uint8_t>(cell / kColumns);
    const auto column = static_cast<std::uint8_t>(cell % kColumns);
    moves.move[moves.count] = {static_cast<std::uint8_t>(m), row, column};
    moves.count += free[row] >> column & 1U;
  }
  return moves;
}

/// One step of all searches. @return whether any search reached a new cell
inline bool spread(const Rows& free, Reached& reached) {
  constexpr unsigned kRound = kColumns - 1;
  Lanes news{};
  const Lanes first = reached[0];
  Lanes above = reached[kRows - 1];
  for (std::size_t row = 0; row < kRows; ++row) {
    const Lanes here = reached[row];
    const Lanes below = row + 1 < kRows ? reached[row + 1] : first;
    const Lanes sideways = here << 1U | here >> 1U | here << kRound | here >> kRound;
    const Lanes next = (here | sideways | above | below) & free[row];
    news |= next ^ here;
    reached[row] = next;
    above = here;
  }
  std::uint32_t any = 0;
  for (std::size_t i = 0; i < kLanes; ++i) any |= news[i];
  return any != 0;
}

/// Results of all searches for the cell of one move.
struct Found {
  Lanes waited{};  ///< steps before the search reached the cell
  Lanes there{};   ///< 1 if the search reached it
};
using FoundByMove = std::array<Found, kMoves>;

/// Replaces each lane by the number of its set bits. Uses only operations that all vectors have.
inline void count_bits(Lanes& x) {
  x -= x >> 1U & 0x55555555U;
  x = (x & 0x33333333U) + (x >> 2U & 0x33333333U);
  x = (x + (x >> 4U)) & 0x0f0f0f0fU;
  x = x * 0x01010101U >> 24U;
}

/// Searches from `reached` until nothing new is found.
/// @param sizes gets the number of cells that each search reached
TRAFFIC_VECTORISED void search(const Rows& free, const Moves& moves, Reached& reached,
                               FoundByMove& found, Lanes& sizes) {
  bool more = true;
  while (more) {
    for (std::size_t m = 0; m < moves.count; ++m) {
      const Move move = moves.move[m];
      found[m].waited += ~(reached[move.row] >> std::uint32_t{move.column}) & 1U;
    }
    more = spread(free, reached);
  }
  for (std::size_t m = 0; m < moves.count; ++m) {
    const Move move = moves.move[m];
    found[m].there = reached[move.row] >> std::uint32_t{move.column} & 1U;
  }
  sizes = Lanes{};
  for (Lanes row : reached) {
    count_bits(row);
    sizes += row;
  }
}

void put(Reached& reached, std::size_t lane, std::size_t row, std::size_t column) {
  reached[row][lane] |= 1U << column;
}

std::uint8_t& room_of(Paths& paths, Move move) {
  return paths.room[move.index / kDirections][move.index % kDirections];
}

/// Sets the room of each move, i.e. the number of cells that the snake can reach after it. This is
/// the size of the area that a search found there.
TRAFFIC_VECTORISED void fill_rooms(const Moves& moves, const FoundByMove& found, const Lanes& sizes,
                                   Paths& paths) {
  for (std::size_t m = 0; m < moves.count; ++m) {
    const Lanes here = found[m].there * sizes;
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < kLanes; ++i) most = std::max(most, std::uint32_t{here[i]});
    std::uint8_t& room = room_of(paths, moves.move[m]);
    room = std::max(room, static_cast<std::uint8_t>(most));
  }
}

/// Sets the room of moves into areas without beans, which no search from a bean has reached. Here
/// the searches start at the cells of the moves.
void fill_other_rooms(const Rows& free, const Moves& moves, Paths& paths) {
  while (true) {
    Reached reached{};
    std::size_t lane = 0;
    for (std::size_t m = 0; m < moves.count && lane < kLanes; ++m) {
      const Move move = moves.move[m];
      if (room_of(paths, move) == 0) put(reached, lane++, move.row, move.column);
    }
    if (lane == 0) return;
    FoundByMove found{};
    Lanes sizes{};
    search(free, moves, reached, found, sizes);
    fill_rooms(moves, found, sizes, paths);
  }
}

TRAFFIC_VECTORISED void fill_steps(const Moves& moves, const FoundByMove& found, Paths& paths) {
  std::memset(&paths.steps, Paths::kNone, sizeof(paths.steps));
  for (std::size_t m = 0; m < moves.count; ++m) {
    const Lanes none = found[m].there - 1U;  // all bits if the search has not come there, else 0
    const Lanes steps = (found[m].waited + 1U) | none;
    const Bytes narrow = __builtin_convertvector(steps, Bytes);
    const std::size_t index = moves.move[m].index;
    std::memcpy(&paths.steps[index / kDirections][index % kDirections], &narrow, sizeof(narrow));
  }
}

}  // namespace

Paths find_paths(const Board& board) {
  const Rows free = free_cells(board);
  const Moves moves = next_moves(board, free);
  Reached reached{};
  for (std::size_t i = 0; i < board.num_beans; ++i) {
    put(reached, i, board.beans[i] / kColumns, board.beans[i] % kColumns);
  }
  FoundByMove found{};
  Lanes sizes{};
  search(free, moves, reached, found, sizes);
  Paths paths;
  fill_steps(moves, found, paths);
  fill_rooms(moves, found, sizes, paths);
  fill_other_rooms(free, moves, paths);
  return paths;
}

}  // namespace traffic::game
