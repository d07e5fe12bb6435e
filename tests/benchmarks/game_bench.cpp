/// Measures how many steps per second the game 3v3 snakes makes on many boards with one core.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "traffic/core/random.h"
#include "traffic/game/features.h"
#include "traffic/game/opponents.h"
#include "traffic/game/paths.h"

namespace {

using namespace traffic::game;

std::vector<Board> boards_of(std::size_t count) {
  std::vector<Board> boards;
  for (std::uint64_t seed = 0; seed < count; ++seed) boards.push_back(start_board(seed));
  return boards;
}

/// Steps with random actions. The time includes drawing the actions. Finished games restart.
void random_actions(benchmark::State& state) {
  std::vector<Board> boards = boards_of(static_cast<std::size_t>(state.range(0)));
  traffic::Rng rng(1);
  std::uint64_t seed = boards.size();
  for (auto _ : state) {
    for (Board& board : boards) {
      const std::uint64_t bits = rng.next_u64();
      Actions actions;
      for (std::size_t i = 0; i < kSnakes; ++i) {
        actions[i] = static_cast<std::uint8_t>(bits >> (2 * i) & 3U);
      }
      benchmark::DoNotOptimize(step(board, actions));
      if (board.over) board = start_board(seed++);
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(random_actions)->Arg(1)->Arg(64)->Arg(1024)->Arg(8192);

void paths_of_a_board(benchmark::State& state) {
  std::vector<Board> boards = boards_of(64);
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(find_paths(boards[i++ % boards.size()]));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(paths_of_a_board);

/// Steps in which a script chooses the actions of one team. The other team moves at random, and its
/// features are computed.
void opponent_and_features(benchmark::State& state) {
  const auto opponent = static_cast<Opponent>(state.range(0));
  std::vector<Board> boards = boards_of(64);
  std::vector<std::array<float, kTeamSnakes * kNumFeatures>> features(boards.size());
  traffic::Rng rng(1);
  std::uint64_t seed = boards.size();
  for (auto _ : state) {
    for (std::size_t b = 0; b < boards.size(); ++b) {
      Board& board = boards[b];
      const Paths paths = find_paths(board);
      write_features({.board = board, .paths = paths, .team = 0}, features[b]);
      benchmark::DoNotOptimize(features[b].data());
      const TeamActions own = choose_actions(Opponent::kRandom, {board, paths, 0}, rng);
      const TeamActions other = choose_actions(opponent, {board, paths, 1}, rng);
      step(board, {own[0], own[1], own[2], other[0], other[1], other[2]});
      if (board.over) board = start_board(seed++);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(boards.size()));
  state.SetLabel(std::string(name_of(opponent)));
}
BENCHMARK(opponent_and_features)->DenseRange(0, kNumOpponents - 1);

}  // namespace

BENCHMARK_MAIN();
