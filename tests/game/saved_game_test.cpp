#include "traffic/game/saved_game.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/game/features.h"

namespace traffic::game {
namespace {

using Bytes = std::array<std::byte, kGameBytes>;

Bytes bytes_of(const Game& game) {
  Bytes bytes{};
  write_game(game, bytes);
  return bytes;
}

/// One step of both teams by this script.
void step(Game& game, Opponent opponent) {
  const Paths paths = find_paths(game.board);
  Actions actions{};
  for (int team = 0; team < kTeams; ++team) {
    const View view{.board = game.board, .paths = paths, .team = team};
    std::array<float, kTeamSnakes * kNumFeatures> features{};
    write_features(view, features);
    std::ranges::copy(choose_actions(opponent, view, game.rngs[static_cast<std::size_t>(team)]),
                      actions.begin() + first_snake(team));
  }
  traffic::game::step(game.board, actions);
}

Game game_after(int steps, std::uint64_t seed) {
  Game game{.board = start_board(seed), .rngs = player_rngs(seed)};
  for (int i = 0; i < steps; ++i) step(game, Opponent::kEvasive);
  return game;
}

/// Message with which read_game() refuses a game after this change; "accepted" if it reads the
/// game.
std::string refusal(const std::function<void(Game&)>& change) {
  Game game = game_after(60, 7);
  change(game);
  try {
    read_game(bytes_of(game));
  } catch (const CheckpointError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SavedGame, StaysTheSameWhenReadAtEveryStepOfManyGames) {
  for (const Opponent opponent : {Opponent::kRandom, Opponent::kBfs, Opponent::kEvasive}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      for (Game game = game_after(0, seed); !game.board.over; step(game, opponent)) {
        const Bytes bytes = bytes_of(game);
        ASSERT_EQ(bytes_of(read_game(bytes)), bytes) << "step " << int{game.board.num_steps};
      }
    }
  }
}

TEST(SavedGame, WithNumbersOutOfTheirRangeIsRefused) {
  using ::testing::HasSubstr;
  EXPECT_EQ(refusal([](Game&) {}), "accepted");
  EXPECT_THAT(refusal([](Game& g) { g.board.head[2] = kCells; }), HasSubstr("not on the board"));
  EXPECT_THAT(refusal([](Game& g) { g.board.tail[5] = 255; }), HasSubstr("not on the board"));
  EXPECT_THAT(refusal([](Game& g) { g.board.towards_head[199] = 201; }),
              HasSubstr("not on the board"));
  EXPECT_THAT(refusal([](Game& g) { g.board.beans[4] = 200; }), HasSubstr("not on the board"));
  EXPECT_THAT(refusal([](Game& g) { g.board.num_beans = 6; }), HasSubstr("more beans"));
  EXPECT_THAT(refusal([](Game& g) { g.board.num_steps = kMaxSteps; }), HasSubstr("more steps"));
  EXPECT_THAT(refusal([](Game& g) { g.board.direction[0] = 4; }), HasSubstr("a direction"));
  EXPECT_THAT(refusal([](Game& g) { g.board.length[3] = 0; }), HasSubstr("without segments"));
  EXPECT_THAT(refusal([](Game& g) { g.board.length.fill(255); }), HasSubstr("do not fit"));
  EXPECT_THAT(refusal([](Game& g) { g.board.over = true; }), HasSubstr("ended"));
}

TEST(SavedGame, ThatContradictsItselfIsRefused) {
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal([](Game& g) { ++g.board.length[1]; }), HasSubstr("lead to its head"));
  EXPECT_THAT(refusal([](Game& g) { g.board.head[1] = g.board.head[2]; }),
              HasSubstr("lead to its head"));
  EXPECT_THAT(refusal([](Game& g) { g.board.beans[0] = g.board.head[0]; }),
              HasSubstr("a cell that is taken"));
  EXPECT_THAT(refusal([](Game& g) { g.board.beans[0] = g.board.beans[1]; }),
              HasSubstr("a cell that is taken"));
  EXPECT_THAT(refusal([](Game& g) {
                g.board.head[1] = g.board.head[0];
                g.board.tail[1] = g.board.tail[0];
                g.board.length[1] = g.board.length[0];
              }),
              HasSubstr("two segments in one cell"));
  EXPECT_THAT(refusal([](Game& g) { g.board.contents.fill(1); }), HasSubstr("do not contain"));
  const auto clear = [](Rng& rng) { rng = std::bit_cast<Rng>(Rng::State{}); };
  EXPECT_THAT(refusal([&](Game& g) { clear(g.board.rng); }), HasSubstr("all zero"));
  EXPECT_THAT(refusal([&](Game& g) { clear(g.rngs[1]); }), HasSubstr("all zero"));
}

TEST(SavedGame, WithAnyBytesChangedIsRefusedOrCanBePlayedToItsEnd) {
  std::vector<Game> games;
  for (const int steps : {0, 10, 50, 150}) games.push_back(game_after(steps, 7));
  Rng rng(3);
  int accepted = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    Bytes bytes = bytes_of(games[rng.uniform_int(games.size())]);
    for (std::uint64_t changes = 1 + rng.uniform_int(3); changes > 0; --changes) {
      bytes[rng.uniform_int(bytes.size())] = static_cast<std::byte>(rng.uniform_int(256));
    }
    try {
      Game game = read_game(bytes);
      while (!game.board.over) step(game, Opponent::kEvasive);
      ++accepted;
    } catch (const CheckpointError&) {
    }
  }
  EXPECT_GT(accepted, 50);
  EXPECT_LT(accepted, 950);
}

}  // namespace
}  // namespace traffic::game
