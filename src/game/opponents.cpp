// The scripted teams of 3v3 snakes, in order of strength (opponents.h).
#include "traffic/game/opponents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>

#include "geometry.h"

namespace traffic::game {
namespace {

constexpr std::array<std::string_view, kNumOpponents> kNames{"random", "chase", "greedy",
                                                             "torus",  "bfs",   "evasive"};
constexpr int kFar = 1000;
constexpr int kNoBean = -1;

/// Cost of the way to each bean for each snake of a team; kFar if the snake should not go to it.
using Costs = std::array<std::array<int, kBeans>, kTeamSnakes>;
using Targets = std::array<int, kTeamSnakes>;

bool taken(const Board& board, Cell cell) {
  return (board.contents[cell] & ~unsigned{Board::kBean}) != 0;
}

int squared(int x) { return x * x; }

/// Squared straight-line distance on the flat board, which does not wrap around at the edges.
int flat_distance(Cell from, Cell to) {
  return squared(row_of(from) - row_of(to)) + squared(column_of(from) - column_of(to));
}

std::size_t snake_of(const View& view, std::size_t mate) {
  return static_cast<std::size_t>(first_snake(view.team)) + mate;
}

/// The direction with the minimum cost; the first such direction if there are several.
template <typename Cost>
std::uint8_t cheapest(Cost cost) {
  std::uint8_t best = 0;
  int least = std::numeric_limits<int>::max();
  for (std::uint8_t direction = 0; direction < kDirections; ++direction) {
    const int one = cost(direction);
    if (one < least) {
      least = one;
      best = direction;
    }
  }
  return best;
}

TeamActions random_actions(Rng& rng) {
  TeamActions actions;
  for (auto& action : actions) action = static_cast<std::uint8_t>(rng.uniform_int(kDirections));
  return actions;
}

/// Moves towards the nearest bean on the flat board. With `Careful` each snake has a bean of its
/// own and avoids segments.
template <bool Careful>
TeamActions flat_actions(const View& view) {
  const Board& board = view.board;
  TeamActions actions{};
  std::array<bool, kBeans> gone{};
  for (std::size_t mate = 0; mate < kTeamSnakes; ++mate) {
    const Cell head = board.head[snake_of(view, mate)];
    int nearest = kNoBean;
    for (int i = 0; i < board.num_beans; ++i) {
      const auto bean = static_cast<std::size_t>(i);
      if (gone[bean]) continue;
      if (nearest == kNoBean ||
          flat_distance(head, board.beans[bean]) <
              flat_distance(head, board.beans[static_cast<std::size_t>(nearest)])) {
        nearest = i;
      }
    }
    if (nearest != kNoBean && Careful) gone[static_cast<std::size_t>(nearest)] = true;
    actions[mate] = cheapest([&](std::uint8_t direction) {
      const Cell next = kNeighbours[direction][head];
      if (Careful && taken(board, next)) return std::numeric_limits<int>::max();
      return nearest == kNoBean
                 ? 0
                 : flat_distance(next, board.beans[static_cast<std::size_t>(nearest)]);
    });
  }
  return actions;
}

/// Gives every snake a bean of its own, by choosing the cheapest remaining pair again and again.
Targets share_out(const Costs& costs) {
  Targets targets;
  targets.fill(kNoBean);
  std::array<bool, kBeans> gone{};
  for (int round = 0; round < kTeamSnakes; ++round) {
    int least = kFar;
    std::size_t mate_of_least = 0;
    std::size_t bean_of_least = 0;
    for (std::size_t mate = 0; mate < kTeamSnakes; ++mate) {
      if (targets[mate] != kNoBean) continue;
      for (std::size_t bean = 0; bean < kBeans; ++bean) {
        if (gone[bean] || costs[mate][bean] >= least) continue;
        least = costs[mate][bean];
        mate_of_least = mate;
        bean_of_least = bean;
      }
    }
    if (least == kFar) break;
    targets[mate_of_least] = static_cast<int>(bean_of_least);
    gone[bean_of_least] = true;
  }
  return targets;
}

/// Calls cost(snake, bean) for each snake of the team (its number on the board) and each bean.
template <typename Cost>
Costs costs_of(const View& view, Cost cost) {
  Costs costs;
  for (std::size_t mate = 0; mate < kTeamSnakes; ++mate) {
    for (std::size_t bean = 0; bean < kBeans; ++bean) {
      costs[mate][bean] = bean < view.board.num_beans ? cost(snake_of(view, mate), bean) : kFar;
    }
  }
  return costs;
}

TeamActions torus_actions(const View& view) {
  const Board& board = view.board;
  const Targets targets = share_out(costs_of(view, [&](std::size_t snake, std::size_t bean) {
    return offset(board.head[snake], board.beans[bean]).steps();
  }));
  TeamActions actions{};
  for (std::size_t mate = 0; mate < kTeamSnakes; ++mate) {
    const Cell head = board.head[snake_of(view, mate)];
    actions[mate] = cheapest([&](std::uint8_t direction) {
      const Cell next = kNeighbours[direction][head];
      if (taken(board, next)) return kFar;
      if (targets[mate] == kNoBean) return 0;
      return offset(next, board.beans[static_cast<std::size_t>(targets[mate])]).steps();
    });
  }
  return actions;
}

int way(const View& view, std::size_t snake, std::size_t bean) {
  const int steps = view.paths.to_bean(static_cast<int>(snake), static_cast<int>(bean));
  return steps == Paths::kNone ? kFar : steps;
}

/// Cost of a move: the number of steps to the target. Without a way to a target, a move after which
/// the snake can reach more cells costs less.
int cost_of_way(const View& view, std::size_t snake, std::uint8_t direction, int target) {
  const int room = view.paths.room[snake][direction];
  if (room == 0) return 2 * kFar;
  const int none = kFar - room;
  if (target == kNoBean) return none;
  const int steps = view.paths.steps[snake][direction][static_cast<std::size_t>(target)];
  return steps == Paths::kNone ? none : steps;
}

/// Number of other heads that may move to the same cell. Longer snakes do not count, because they
/// would lose more in a collision.
int rivals_beside(const View& view, std::size_t snake, Cell next) {
  const Board& board = view.board;
  int count = 0;
  for (std::size_t other = 0; other < kSnakes; ++other) {
    if (other == snake || board.length[other] > board.length[snake]) continue;
    count += offset(next, board.head[other]).steps() == 1 ? 1 : 0;
  }
  return count;
}

TeamActions bfs_actions(const View& view) {
  constexpr int kRival = 3;  // steps that a detour round a rival's head is worth
  const Targets targets = share_out(
      costs_of(view, [&](std::size_t snake, std::size_t bean) { return way(view, snake, bean); }));
  TeamActions actions{};
  for (std::size_t mate = 0; mate < kTeamSnakes; ++mate) {
    const std::size_t snake = snake_of(view, mate);
    actions[mate] = cheapest([&](std::uint8_t direction) {
      const Cell next = kNeighbours[direction][view.board.head[snake]];
      return cost_of_way(view, snake, direction, targets[mate]) +
             kRival * rivals_beside(view, snake, next);
    });
  }
  return actions;
}

/// Minimum number of steps in which an enemy reaches a bean.
int way_of_enemies(const View& view, std::size_t bean) {
  int least = kFar;
  for (std::size_t i = 0; i < kTeamSnakes; ++i) {
    const auto enemy = static_cast<std::size_t>(first_snake(1 - view.team)) + i;
    least = std::min(least, way(view, enemy, bean));
  }
  return least;
}

/// Cost, in segments, of a move to a cell to which other heads may also move. It is a sum over
/// these heads. An enemy that is not longer costs the difference of the lengths plus 1, a slightly
/// longer one costs nothing, and a much longer one costs -1. A teammate costs the segments that
/// both snakes would lose.
int danger(const View& view, std::size_t snake, Cell next) {
  constexpr int kMuch = 3;  // segments
  const Board& board = view.board;
  int sum = 0;
  for (std::size_t other = 0; other < kSnakes; ++other) {
    if (other == snake || offset(next, board.head[other]).steps() != 1) continue;
    const bool mate = team_of(static_cast<int>(other)) == view.team;
    const int stake = mate ? board.length[snake] + board.length[other] - 2 * kStartLength
                           : board.length[snake] - board.length[other] + 1;
    sum += stake > 0 ? stake : stake <= -kMuch ? -1 : 0;
  }
  return sum;
}

TeamActions evasive_actions(const View& view) {
  constexpr int kLate = 6;       // steps added to the way to a bean that an enemy reaches first
  constexpr int kDeadEnd = 100;  // cost of a move into a dead end
  constexpr int kStake = 6;      // steps that a segment at stake is worth
  std::array<int, kBeans> enemies{};
  for (std::size_t bean = 0; bean < view.board.num_beans; ++bean) {
    enemies[bean] = way_of_enemies(view, bean);
  }
  const Targets targets = share_out(costs_of(view, [&](std::size_t snake, std::size_t bean) {
    const int own = way(view, snake, bean);
    return own == kFar ? kFar : own + (enemies[bean] < own ? kLate : 0);
  }));
  TeamActions actions{};
  for (std::size_t mate = 0; mate < kTeamSnakes; ++mate) {
    const std::size_t snake = snake_of(view, mate);
    const int length = view.board.length[snake];
    actions[mate] = cheapest([&](std::uint8_t direction) {
      const Cell next = kNeighbours[direction][view.board.head[snake]];
      const int room = view.paths.room[snake][direction];
      return cost_of_way(view, snake, direction, targets[mate]) +
             (room < length && length > kStartLength ? kDeadEnd : 0) +
             kStake * danger(view, snake, next);
    });
  }
  return actions;
}

}  // namespace

std::string_view name_of(Opponent opponent) { return kNames[static_cast<std::size_t>(opponent)]; }

std::optional<Opponent> opponent_named(std::string_view name) {
  for (std::size_t level = 0; level < kNames.size(); ++level) {
    if (name == kNames[level] || name == std::to_string(level)) return static_cast<Opponent>(level);
  }
  return std::nullopt;
}

std::string opponent_names() { return fmt::format("{}", fmt::join(kNames, ", ")); }

TeamActions choose_actions(Opponent opponent, const View& view, Rng& rng) {
  switch (opponent) {
    case Opponent::kRandom:
      return random_actions(rng);
    case Opponent::kChase:
      return flat_actions</*Careful=*/false>(view);
    case Opponent::kGreedy:
      return flat_actions</*Careful=*/true>(view);
    case Opponent::kTorus:
      return torus_actions(view);
    case Opponent::kBfs:
      return bfs_actions(view);
    case Opponent::kEvasive:
      return evasive_actions(view);
  }
  return {};
}

}  // namespace traffic::game
