#include "train/snakes/turn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "game/scene.h"
#include "train/snakes/observation.h"

namespace traffic::train::snakes {
namespace {

using game::Cell;
using game::testing::State;

/// A game whose snakes and beans are near each other. The board is a torus: half-way round it, an
/// offset and its mirror image would be the same, so nothing lies there.
State some_scene() {
  using game::testing::at;
  State state;
  state.snakes = {{{at(5, 10), at(6, 10), at(6, 11)},
                   {at(3, 9), at(3, 8), at(3, 7)},
                   {at(7, 12), at(7, 13), at(7, 14)},
                   {at(4, 12), at(4, 13), at(4, 14)},
                   {at(6, 7), at(7, 7), at(8, 7)},
                   {at(7, 9), at(8, 9), at(9, 9)}}};
  state.direction = {game::kUp, game::kRight, game::kLeft, game::kLeft, game::kUp, game::kUp};
  state.beans = {at(4, 9), at(3, 12)};
  return state;
}

struct Seen {
  std::vector<float> numbers;  ///< [mates, width]
  std::array<Turn, game::kTeamSnakes> turns;
};

Seen seen_of(const State& state, Sight sight) {
  const game::Board board = game::testing::board_of(state);
  const game::Paths paths = game::find_paths(board);
  Seen seen;
  seen.numbers.resize(static_cast<std::size_t>(game::kTeamSnakes * sight.width()));
  write_observations({.board = board, .paths = paths, .team = 0}, sight, seen.numbers, seen.turns);
  return seen;
}

/// The scene with all cells and directions mapped.
/// @param cell_of new cell of a row and column
/// @param direction_of new direction of each direction
State moved(State state, const std::function<Cell(int row, int column)>& cell_of,
            const std::array<std::uint8_t, game::kDirections>& direction_of) {
  const auto move = [&](Cell& cell) { cell = cell_of(game::row_of(cell), game::column_of(cell)); };
  for (auto& snake : state.snakes) std::ranges::for_each(snake, move);
  std::ranges::for_each(state.beans, move);
  for (auto& direction : state.direction) direction = direction_of[direction];
  return state;
}

TEST(Turn, MirroredAndReversedBoardsLookTheSame) {
  using game::testing::at;
  const State scene = some_scene();
  const std::array mirrors{
      moved(scene, [](int row, int column) { return at(row, 25 - column); }, {0, 1, 3, 2}),
      moved(scene, [](int row, int column) { return at(13 - row, column); }, {1, 0, 2, 3}),
      moved(scene, [](int row, int column) { return at(13 - row, 25 - column); }, {1, 0, 3, 2})};
  for (const bool surroundings : {false, true}) {
    const Sight sight{.surroundings = surroundings};
    const Seen expected = seen_of(scene, sight);
    for (const State& other : mirrors) {
      const Seen seen = seen_of(other, sight);
      for (std::size_t i = 0; i < seen.numbers.size(); ++i) {
        EXPECT_FLOAT_EQ(seen.numbers[i], expected.numbers[i]) << "number " << i;
      }
      EXPECT_NE(seen.turns[0].index(), expected.turns[0].index());
    }
  }
}

TEST(Turn, ObservationsDifferOnlyInTheFlagOfTheLongerSide) {
  using game::testing::at;
  const State up = some_scene();
  // The scene, turned by a quarter to the right about the head.
  const State right = moved(
      up, [](int row, int column) { return at(5 + column - 10, 10 - (row - 5)); }, {3, 2, 0, 1});
  const Seen of_up = seen_of(up, {});
  const Seen of_right = seen_of(right, {});
  constexpr auto kWindowAt = static_cast<std::size_t>(game::kNumFeatures + game::kNumRaces);
  const auto width = of_up.numbers.size() / game::kTeamSnakes;
  for (std::size_t i = 0; i + 1 < width; ++i) {
    EXPECT_FLOAT_EQ(of_up.numbers[i], of_right.numbers[i]) << "number " << i;
  }
  EXPECT_EQ(std::count_if(of_up.numbers.begin() + kWindowAt, of_up.numbers.begin() + width - 1,
                          [](float value) { return value != 0.0F; }),
            19)
      << "19 numbers describe segments and heads around the head";
  EXPECT_EQ(of_up.numbers[width - 1], 0.0F);
  EXPECT_EQ(of_right.numbers[width - 1], 1.0F);
}

TEST(Turn, ConvertsDirectionsThereAndBack) {
  for (int heading = 0; heading < game::kDirections; ++heading) {
    for (const bool mirrored : {false, true}) {
      const Turn turn(static_cast<game::Direction>(heading), mirrored);
      EXPECT_EQ(turn.on_board(game::kUp), heading);
      for (std::uint8_t seen = 0; seen < game::kDirections; ++seen) {
        EXPECT_EQ(turn.seen(turn.on_board(seen)), seen);
      }
    }
  }
  EXPECT_EQ(Turn(game::kLeft, false).on_board(game::kLeft), game::kDown);
  EXPECT_EQ(Turn(game::kLeft, true).on_board(game::kLeft), game::kUp);
}

TEST(Turn, IsTheIdentityIfObservationsAreNotTurned) {
  const Seen seen = seen_of(game::testing::crowded_scene(), {.turned = false});
  for (const Turn& turn : seen.turns) EXPECT_EQ(turn.on_board(game::kLeft), game::kLeft);
  const Seen turned = seen_of(game::testing::crowded_scene(), {});
  EXPECT_EQ(turned.turns[0].on_board(game::kLeft), game::kRight)
      << "the observation is mirrored, because the nearest bean is to the right";
}

}  // namespace
}  // namespace traffic::train::snakes
