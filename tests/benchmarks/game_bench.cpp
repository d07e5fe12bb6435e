/// 3v3 snakes: environment steps of many boards on one core.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "traffic/core/random.h"
#include "traffic/game/board.h"
#include "traffic/game/paths.h"

namespace {

using namespace traffic::game;

std::vector<Board> boards_of(std::size_t count) {
  std::vector<Board> boards;
  for (std::uint64_t seed = 0; seed < count; ++seed) boards.push_back(start_board(seed));
  return boards;
}

/// Actions drawn as well; games that are over begin again.
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

}  // namespace

BENCHMARK_MAIN();
