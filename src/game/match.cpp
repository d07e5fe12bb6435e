// Plays games of one team against another (match.h).
#include "traffic/game/match.h"

namespace traffic::game {
namespace {

/// Number from which the players' seeds are derived. The board uses the game's seed itself.
constexpr std::uint64_t kPlayerStream = 1;

int gained(const Board& board, int team) {
  return team_length(board, team) - kTeamSnakes * kStartLength;
}

}  // namespace

PlayerRngs player_rngs(std::uint64_t seed) {
  return {Rng(derive_seed(seed, {kPlayerStream, 0})), Rng(derive_seed(seed, {kPlayerStream, 1}))};
}

Player player_of(Opponent opponent) {
  return [opponent](const View& view, Rng& rng) { return choose_actions(opponent, view, rng); };
}

Board play_game(std::uint64_t seed, const std::array<Player, kTeams>& players,
                const Observer& observer) {
  Board board = start_board(seed);
  PlayerRngs rngs = player_rngs(seed);
  if (observer) observer(board);
  while (!board.over) {
    const Paths paths = find_paths(board);
    Actions actions{};
    for (std::size_t team = 0; team < kTeams; ++team) {
      const View view{.board = board, .paths = paths, .team = static_cast<int>(team)};
      const TeamActions chosen = players[team](view, rngs[team]);
      for (std::size_t i = 0; i < kTeamSnakes; ++i) actions[team * kTeamSnakes + i] = chosen[i];
    }
    step(board, actions);
    if (observer) observer(board);
  }
  return board;
}

double Pair::score() const {
  double sum = 0;
  for (std::size_t side = 0; side < own.size(); ++side) {
    sum += own[side] > others[side] ? 1.0 : own[side] == others[side] ? 0.5 : 0.0;
  }
  return sum / static_cast<double>(own.size());
}

std::vector<Pair> play_match(const Player& own, const Player& other, int pairs,
                             std::uint64_t seed) {
  std::vector<Pair> results(static_cast<std::size_t>(pairs));
  for (Pair& pair : results) {
    const Board first = play_game(seed, {own, other});
    const Board second = play_game(seed, {other, own});
    pair = {.own = {gained(first, 0), gained(second, 1)},
            .others = {gained(first, 1), gained(second, 0)}};
    ++seed;
  }
  return results;
}

}  // namespace traffic::game
