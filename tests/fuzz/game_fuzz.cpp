// Fuzz target: reads a saved game of snakes, as a checkpoint of unknown origin may contain it, and
// plays it to its end.
#include <algorithm>
#include <array>
#include <span>

#include "traffic/core/error.h"
#include "traffic/game/features.h"
#include "traffic/game/saved_game.h"

namespace {

using namespace traffic::game;

void play(Game& game) {
  while (!game.board.over) {
    const Paths paths = find_paths(game.board);
    Actions actions{};
    for (int team = 0; team < kTeams; ++team) {
      const View view{.board = game.board, .paths = paths, .team = team};
      std::array<float, kTeamSnakes * kNumFeatures> features{};
      write_features(view, features);
      std::ranges::copy(
          choose_actions(Opponent::kEvasive, view, game.rngs[static_cast<std::size_t>(team)]),
          actions.begin() + first_snake(team));
    }
    step(game.board, actions);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kGameBytes) return 0;
  try {
    Game game = read_game(std::as_bytes(std::span(data, size)).first<kGameBytes>());
    play(game);
  } catch (const traffic::CheckpointError&) {
  }
  return 0;
}
