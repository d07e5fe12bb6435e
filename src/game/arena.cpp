// Arena: runs many games of one process at the same time (arena.h).
#include "traffic/game/arena.h"

#include <algorithm>

#include "traffic/core/error.h"

namespace traffic::game {

Arena::Arena(int num_games)
    : games_(static_cast<std::size_t>(num_games)), paths_(games_.size()), known_(games_.size(), 0) {
  for (Game& game : games_) game.board.over = true;  // a game counts as over until it is started
}

std::size_t Arena::index(int game) const {
  TRAFFIC_CHECK(game >= 0 && game < size(), "there is no game {}, expected 0 to {}", game,
                size() - 1);
  return static_cast<std::size_t>(game);
}

void Arena::start(int game, std::uint64_t seed) {
  restore(game, {.board = start_board(seed), .rngs = player_rngs(seed)});
}

void Arena::restore(int game, const Game& state) {
  games_[index(game)] = state;
  known_[index(game)] = 0;
}

View Arena::view(int game, int team) {
  const std::size_t i = index(game);
  if (known_[i] == 0) {
    paths_[i] = find_paths(games_[i].board);
    known_[i] = 1;
  }
  return {.board = games_[i].board, .paths = paths_[i], .team = team};
}

TeamActions Arena::choose(int game, int team, Opponent opponent) {
  return choose_actions(opponent, view(game, team),
                        games_[index(game)].rngs[static_cast<std::size_t>(team)]);
}

void Arena::step(const Step& step) {
  TRAFFIC_CHECK(step.actions.size() == games_.size() * kSnakes &&
                    step.rewards.size() == games_.size() * kSnakes &&
                    step.over.size() == games_.size() &&
                    (step.died.empty() || step.died.size() == games_.size()),
                "a step of {} games needs {} actions and rewards and an end for each game, found "
                "{} actions, {} rewards and {} ends",
                games_.size(), games_.size() * kSnakes, step.actions.size(), step.rewards.size(),
                step.over.size());
  for (std::size_t i = 0; i < games_.size(); ++i) {
    Actions actions;
    std::copy_n(step.actions.begin() + static_cast<std::ptrdiff_t>(i * kSnakes), kSnakes,
                actions.begin());
    const StepResult result = game::step(games_[i].board, actions);
    for (std::size_t snake = 0; snake < kSnakes; ++snake) {
      step.rewards[i * kSnakes + snake] = static_cast<float>(result.rewards[snake]);
    }
    step.over[i] = games_[i].board.over ? 1 : 0;
    if (!step.died.empty()) step.died[i] = result.died;
    known_[i] = 0;
  }
}

}  // namespace traffic::game
