// Computes further features of a snake: how near it, its nearest teammate and its nearest enemy are
// to each bean, and the cells around its head (surroundings.h).
#include "traffic/game/surroundings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "geometry.h"

namespace traffic::game {
namespace {

/// For each cell in which a head may be, the cells of the window around it, row by row.
constexpr auto kWindow = [] {
  std::array<std::array<Cell, kWindowCells>, kCells> table{};
  for (int cell = 0; cell < kCells; ++cell) {
    for (int rows = -kWindowRadius; rows <= kWindowRadius; ++rows) {
      for (int columns = -kWindowRadius; columns <= kWindowRadius; ++columns) {
        if (rows == 0 && columns == 0) continue;
        table[static_cast<std::size_t>(cell)][place_in_window(rows, columns)] =
            cell_at(cell / kColumns + rows, cell % kColumns + columns);
      }
    }
  }
  return table;
}();

/// Number of steps to a bean for the snake itself, for its nearest teammate and for its nearest
/// enemy.
struct Race {
  std::uint8_t own = Paths::kNone;
  std::uint8_t mate = Paths::kNone;
  std::uint8_t enemy = Paths::kNone;
};

float share_of_a_step(std::uint8_t steps) {
  return steps == Paths::kNone ? 0.0F : 1.0F / static_cast<float>(std::max<int>(1, steps));
}

}  // namespace

Surroundings::Surroundings(const View& view) : board_(view.board), team_(view.team) {
  constexpr float kTail = 0.25F;
  for (int snake = 0; snake < kSnakes; ++snake) {
    for (int bean = 0; bean < board_.num_beans; ++bean) {
      steps_[static_cast<std::size_t>(snake)][static_cast<std::size_t>(bean)] =
          view.paths.to_bean(snake, bean);
    }
  }
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    segments_[cell] = (board_.contents[cell] & 0x7fU) != 0 ? 1.0F : 0.0F;
  }
  for (const Cell tail : board_.tail) segments_[tail] = kTail;
  for (int snake = 0; snake < kSnakes; ++snake) {
    const Cell head = board_.head[static_cast<std::size_t>(snake)];
    heads_[head] = team_of(snake) == team_ ? -1.0F : 1.0F;
  }
}

void Surroundings::write(int snake, std::span<float, kNumSurroundings> out) const {
  write_races(snake, out.data());
  write_window(snake, out.data() + kNumRaces);
}

void Surroundings::write_races(int snake, float* out) const {
  std::array<Race, kBeans> races{};
  const int beans = board_.num_beans;
  for (std::size_t other = 0; other < kSnakes; ++other) {
    for (std::size_t bean = 0; bean < static_cast<std::size_t>(beans); ++bean) {
      std::uint8_t& best = static_cast<int>(other) == snake            ? races[bean].own
                           : team_of(static_cast<int>(other)) == team_ ? races[bean].mate
                                                                       : races[bean].enemy;
      best = std::min(best, steps_[other][bean]);
    }
  }
  for (int i = 1; i < beans; ++i) {  // insertion sort, without allocation
    for (auto j = static_cast<std::size_t>(i); j > 0 && races[j].own < races[j - 1].own; --j) {
      std::swap(races[j], races[j - 1]);
    }
  }
  for (const Race& race : races) {
    *out++ = share_of_a_step(race.own);
    *out++ = share_of_a_step(race.mate);
    *out++ = share_of_a_step(race.enemy);
  }
}

void Surroundings::write_window(int snake, float* out) const {
  for (const Cell cell : kWindow[board_.head[static_cast<std::size_t>(snake)]]) {
    *out++ = segments_[cell];
    *out++ = heads_[cell];
  }
}

}  // namespace traffic::game
