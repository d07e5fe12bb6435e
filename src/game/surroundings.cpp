#include "traffic/game/surroundings.h"

#include <algorithm>
#include <array>

#include "geometry.h"

namespace traffic::game {
namespace {

/// Steps to a bean of each snake of interest.
struct Race {
  std::uint8_t own = Paths::kNone;
  std::uint8_t mate = Paths::kNone;
  std::uint8_t enemy = Paths::kNone;
};

Race race_to(const View& view, int snake, int bean) {
  Race race;
  for (int other = 0; other < kSnakes; ++other) {
    std::uint8_t& best = other == snake                ? race.own
                         : team_of(other) == view.team ? race.mate
                                                       : race.enemy;
    best = std::min(best, view.paths.to_bean(other, bean));
  }
  return race;
}

float share_of_a_step(std::uint8_t steps) {
  return steps == Paths::kNone ? 0.0F : 1.0F / static_cast<float>(std::max<int>(1, steps));
}

float* put_races(const View& view, int snake, float* out) {
  std::array<Race, kBeans> races{};
  const int beans = view.board.num_beans;
  for (int bean = 0; bean < beans; ++bean) {
    races[static_cast<std::size_t>(bean)] = race_to(view, snake, bean);
  }
  std::stable_sort(races.begin(), races.begin() + beans,
                   [](const Race& a, const Race& b) { return a.own < b.own; });
  for (const Race& race : races) {
    *out++ = share_of_a_step(race.own);
    *out++ = share_of_a_step(race.mate);
    *out++ = share_of_a_step(race.enemy);
  }
  return out;
}

void put_window(const View& view, int snake, float* out) {
  constexpr float kTail = 0.25F;
  const Board& board = view.board;
  const Cell head = board.head[static_cast<std::size_t>(snake)];
  for (int rows = -kWindowRadius; rows <= kWindowRadius; ++rows) {
    for (int columns = -kWindowRadius; columns <= kWindowRadius; ++columns) {
      if (rows == 0 && columns == 0) continue;
      const Cell cell = cell_at(row_of(head) + rows, column_of(head) + columns);
      const bool segment = (board.contents[cell] & 0x7fU) != 0;
      const bool leaves = std::ranges::find(board.tail, cell) != board.tail.end();
      *out++ = !segment ? 0.0F : leaves ? kTail : 1.0F;
      const auto of = std::ranges::find(board.head, cell);
      const int other = static_cast<int>(of - board.head.begin());
      *out++ = of == board.head.end() ? 0.0F : team_of(other) == view.team ? -1.0F : 1.0F;
    }
  }
}

}  // namespace

void write_surroundings(const View& view, int snake, std::span<float, kNumSurroundings> out) {
  put_window(view, snake, put_races(view, snake, out.data()));
}

}  // namespace traffic::game
