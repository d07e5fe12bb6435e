#include "snakes/turn.h"

#include <cstddef>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/game/surroundings.h"

namespace traffic::train::snakes {
namespace {

using game::kDown;
using game::kLeft;
using game::kRight;
using game::kUp;

constexpr std::size_t kWindowAt = game::kNumFeatures + game::kNumRaces;
constexpr std::size_t kNumbers = game::kNumFeatures + game::kNumSurroundings;

/// A step on the board.
struct Step {
  int rows = 0;
  int columns = 0;
};
constexpr std::array<Step, game::kDirections> kSteps{{{-1, 0}, {1, 0}, {0, -1}, {0, 1}}};

using Directions = std::array<std::uint8_t, game::kDirections>;

/// The directions on the board for the directions up, down, left and right as seen in a turn.
constexpr Directions directions_of(std::size_t turn) {
  constexpr std::array<Directions, game::kDirections> kHeadings{{{kUp, kDown, kLeft, kRight},
                                                                 {kDown, kUp, kRight, kLeft},
                                                                 {kLeft, kRight, kDown, kUp},
                                                                 {kRight, kLeft, kUp, kDown}}};
  Directions directions = kHeadings[turn / 2];
  if (turn % 2 == 1) std::swap(directions[kLeft], directions[kRight]);
  return directions;
}

/// Where a number of the turned observation comes from: a number of the original observation, times
/// a factor.
struct Source {
  std::uint16_t from = 0;  ///< index in the original observation
  float factor = 1.0F;
};

using Sources = std::array<Source, kNumbers>;

/// The steps on the board that look like a step down and a step to the right in a turn.
struct Axes {
  Step down;
  Step right;
};

constexpr void turn_directions(const Directions& directions, Sources& sources) {
  for (std::size_t seen = 0; seen < game::kDirections; ++seen) {
    for (std::size_t i = 0; i < game::kFeaturesOfDirection; ++i) {
      sources[seen * game::kFeaturesOfDirection + i].from =
          static_cast<std::uint16_t>(directions[seen] * game::kFeaturesOfDirection + i);
    }
  }
}

/// Sets the sources of an offset, which consists of two numbers: rows and columns.
/// @param at index of the number of rows; the number of columns follows
constexpr void turn_offset(const Axes& axes, std::size_t at, Sources& sources) {
  constexpr float kRowsPerColumn = static_cast<float>(game::kColumns) / game::kRows;
  const auto rows = static_cast<std::uint16_t>(at);
  const auto columns = static_cast<std::uint16_t>(at + 1);
  const auto [down, right] = axes;
  sources[at] = down.rows != 0 ? Source{rows, static_cast<float>(down.rows)}
                               : Source{columns, static_cast<float>(down.columns) * kRowsPerColumn};
  sources[at + 1] = right.columns != 0
                        ? Source{columns, static_cast<float>(right.columns)}
                        : Source{rows, static_cast<float>(right.rows) / kRowsPerColumn};
}

constexpr void turn_window(const Axes& axes, Sources& sources) {
  const auto [down, right] = axes;
  for (int rows = -game::kWindowRadius; rows <= game::kWindowRadius; ++rows) {
    for (int columns = -game::kWindowRadius; columns <= game::kWindowRadius; ++columns) {
      if (rows == 0 && columns == 0) continue;
      const std::size_t from = game::place_in_window(rows * down.rows + columns * right.rows,
                                                     rows * down.columns + columns * right.columns);
      for (std::size_t i = 0; i < 2; ++i) {
        sources[kWindowAt + 2 * game::place_in_window(rows, columns) + i].from =
            static_cast<std::uint16_t>(kWindowAt + 2 * from + i);
      }
    }
  }
}

constexpr Sources sources_of(std::size_t turn) {
  Sources sources{};
  for (std::size_t i = 0; i < kNumbers; ++i) sources[i].from = static_cast<std::uint16_t>(i);
  const Directions directions = directions_of(turn);
  const Axes axes{.down = kSteps[directions[kDown]], .right = kSteps[directions[kRight]]};
  turn_directions(directions, sources);
  for (std::size_t i = 0; i < game::kBeans; ++i) turn_offset(axes, game::kBeansAt + 2 * i, sources);
  for (std::size_t i = 0; i + 1 < game::kSnakes; ++i) {
    turn_offset(axes, game::kOthersAt + 3 * i, sources);
  }
  turn_window(axes, sources);
  return sources;
}

template <typename Make>
constexpr auto for_each_turn(Make make) {
  std::array<decltype(make(0)), kTurns> all{};
  for (std::size_t turn = 0; turn < kTurns; ++turn) all[turn] = make(turn);
  return all;
}

constexpr auto kOnBoard = for_each_turn(directions_of);
constexpr auto kSeen = for_each_turn([](std::size_t turn) {
  Directions seen{};
  for (std::uint8_t i = 0; i < game::kDirections; ++i) seen[directions_of(turn)[i]] = i;
  return seen;
});
constexpr auto kSources = for_each_turn(sources_of);

}  // namespace

std::uint8_t Turn::on_board(std::uint8_t seen) const { return kOnBoard[index_][seen]; }
std::uint8_t Turn::seen(std::uint8_t on_board) const { return kSeen[index_][on_board]; }

Turn turn_of(game::Direction heading, std::span<const float> features) {
  const Source columns = kSources[Turn(heading, false).index()][game::kBeansAt + 1];
  return {heading, features[columns.from] * columns.factor < 0.0F};
}

void write_turned(Turn turn, std::span<const float> numbers, std::span<float> out) {
  TRAFFIC_CHECK(
      numbers.size() <= kNumbers && out.size() >= numbers.size(),
      "an observation has {} numbers and its destination {}; expected a destination of at "
      "least the same size, and at most {} numbers",
      numbers.size(), out.size(), kNumbers);
  const Sources& sources = kSources[turn.index()];
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    out[i] = numbers[sources[i].from] * sources[i].factor;
  }
}

}  // namespace traffic::train::snakes
