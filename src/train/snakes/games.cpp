#include "snakes/games.h"

#include <torch/utils.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/core/random_streams.h"
#include "traffic/game/saved_game.h"

namespace traffic::train::snakes {
namespace {

constexpr auto kTeam = static_cast<std::size_t>(game::kTeamSnakes);
constexpr auto kAll = static_cast<std::size_t>(game::kSnakes);

int gain_of(const game::Board& board, int team) {
  return game::team_length(board, team) - game::kTeamSnakes * game::kStartLength;
}

}  // namespace

SnakesGames::SnakesGames(const Snakes& settings, const Place& place)
    : settings_(settings),
      place_(place),
      arena_(static_cast<int>(settings.games)),
      seats_(static_cast<std::size_t>(settings.games)),
      obs_(torch::zeros({2 * num_agents(), spaces().obs_dim})),
      turns_(static_cast<std::size_t>(obs_.size(0))),
      actions_(seats_.size() * kAll),
      rewards_(actions_.size()),
      over_(seats_.size()),
      died_(seats_.size()),
      stream_actions_(static_cast<std::size_t>(num_streams())),
      stream_rewards_(stream_actions_.size()),
      stream_ends_(stream_actions_.size()) {}

void SnakesGames::start(const TrainingProgress& progress) {
  begin_round(progress);
  for (std::size_t i = 0; i < seats_.size(); ++i) begin_game(i);
}

/// A game depends only on the run's seed, on its place among the games that all ranks play at the
/// same time, and on the number of earlier games in this place.
void SnakesGames::begin_game(std::size_t game) {
  Seat& seat = seats_[game];
  const std::uint64_t place =
      static_cast<std::uint64_t>(place_.rank) * seats_.size() + static_cast<std::uint64_t>(game);
  Rng rng(derive_seed(place_.seed, {kOpponentStream, place, seat.games_before}));
  const auto opponent = draw_opponent(settings_, progress_, rng);
  seat.side = static_cast<std::uint8_t>(rng.uniform_int(game::kTeams));
  seat.opponent = opponent ? static_cast<std::uint8_t>(*opponent) : kPastSelf;
  arena_.start(static_cast<int>(game),
               derive_seed(place_.seed, {kGameStream, place, seat.games_before}));
  ++seat.games_before;
}

/// Whether the observations of a team are computed. Opponents are observed only if the learner
/// learns from them, or if a past self (earlier copy of the policy) decides for them.
bool SnakesGames::is_observed(std::size_t game, bool of_agent) const {
  return of_agent || settings_.learn_from_both || seats_[game].opponent == kPastSelf;
}

const torch::Tensor& SnakesGames::observe() {
  auto* out = obs_.mutable_data_ptr<float>();
  const std::size_t of_team = kTeam * static_cast<std::size_t>(obs_.size(1));
  const Sight sight = Sight::of(settings_);
  auto turns = turns_.begin();
  for (const bool is_agent : {true, false}) {
    for (std::size_t i = 0; i < seats_.size(); ++i, out += of_team, turns += kTeam) {
      if (!is_observed(i, is_agent)) continue;
      write_observations(arena_.view(static_cast<int>(i), team_of_stream(i, is_agent)), sight,
                         {out, of_team}, {turns, kTeam});
    }
  }
  return obs_;
}

void SnakesGames::step(std::span<const std::uint8_t> agents, offpolicy::ActingNetwork& past_self) {
  TRAFFIC_CHECK(std::ssize(agents) == num_agents(),
                "there are {} actions for {} agents, expected one for each", agents.size(),
                num_agents());
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    act(i, seats_[i].side, agents.subspan(i * kTeam, kTeam),
        std::span(turns_).subspan(i * kTeam, kTeam));
  }
  choose_opponents(past_self);
  arena_.step({.actions = actions_, .rewards = rewards_, .over = over_, .died = died_});
  write_streams();
  end_games();
}

/// Sets a team's actions in the arena.
/// @param seen directions as the team's snakes see the board
/// @param turns the turns in which these snakes see the board
void SnakesGames::act(std::size_t game, int team, std::span<const std::uint8_t> seen,
                      std::span<const Turn> turns) {
  const std::size_t first = game * kAll + static_cast<std::size_t>(team) * kTeam;
  for (std::size_t i = 0; i < kTeam; ++i) actions_[first + i] = turns[i].on_board(seen[i]);
}

void SnakesGames::choose_opponents(offpolicy::ActingNetwork& past_self) {
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (seats_[i].opponent == kPastSelf) continue;
    const int team = team_of_stream(i, false);
    const game::TeamActions chosen =
        arena_.choose(static_cast<int>(i), team, static_cast<game::Opponent>(seats_[i].opponent));
    std::ranges::copy(
        chosen, actions_.begin() +
                    static_cast<std::ptrdiff_t>(i * kAll + static_cast<std::size_t>(team) * kTeam));
  }
  choose_past_selves(past_self);
}

void SnakesGames::choose_past_selves(offpolicy::ActingNetwork& past_self) {
  std::vector<torch::Tensor> rows;
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (seats_[i].opponent != kPastSelf) continue;
    rows.push_back(
        obs_.narrow(0, num_agents() + static_cast<std::int64_t>(i * kTeam), game::kTeamSnakes));
  }
  if (rows.empty()) return;
  std::vector<std::uint8_t> chosen(rows.size() * kTeam);
  offpolicy::choose_best(past_self, torch::cat(rows), chosen);
  std::size_t next = 0;
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (seats_[i].opponent != kPastSelf) continue;
    act(i, team_of_stream(i, false), std::span(chosen).subspan(next, kTeam),
        std::span(turns_).last(turns_.size() / 2).subspan(i * kTeam, kTeam));
    next += kTeam;
  }
}

float SnakesGames::reward_of(std::size_t game, int snake) const {
  const float* of_game = rewards_.data() + game * kAll;
  const int team = game::team_of(snake);
  double own = 0.0;
  double enemies = 0.0;
  for (int i = 0; i < game::kSnakes; ++i) {
    (game::team_of(i) == team ? own : enemies) += static_cast<double>(of_game[i]);
  }
  double reward =
      settings_.reward_own * static_cast<double>(of_game[snake]) +
      (settings_.reward_team * own - settings_.reward_enemies * enemies) / game::kTeamSnakes;
  if ((died_[game] >> snake & 1) != 0) reward -= settings_.reward_death;
  if (over_[game] != 0) {
    const game::Board& board = arena_.board(static_cast<int>(game));
    const int lead = gain_of(board, team) - gain_of(board, 1 - team);
    reward += settings_.reward_win * static_cast<double>((lead > 0) - (lead < 0));
  }
  return static_cast<float>(reward);
}

/// Copies the results of the arena's step to the streams.
void SnakesGames::write_streams() {
  std::size_t stream = 0;
  for (const bool is_agent : {true, false}) {
    if (!is_agent && !settings_.learn_from_both) break;
    for (std::size_t i = 0; i < seats_.size(); ++i) {
      const int first = game::first_snake(team_of_stream(i, is_agent));
      for (int snake = first; snake < first + game::kTeamSnakes; ++snake, ++stream) {
        stream_actions_[stream] =
            turns_[stream].seen(actions_[i * kAll + static_cast<std::size_t>(snake)]);
        stream_rewards_[stream] = reward_of(i, snake);
        stream_ends_[stream] = over_[i];
      }
    }
  }
}

void SnakesGames::end_games() {
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (over_[i] == 0) continue;
    const game::Board& board = arena_.board(static_cast<int>(i));
    const int own = gain_of(board, seats_[i].side);
    const int other = gain_of(board, 1 - seats_[i].side);
    figures_.games += 1.0;
    figures_.score += own > other ? 1.0 : own == other ? 0.5 : 0.0;
    figures_.own_length += own;
    figures_.other_length += other;
    begin_game(i);
  }
}

GameFigures SnakesGames::take_figures() { return std::exchange(figures_, {}); }

checkpoint::Bytes SnakesGames::to_bytes() const {
  constexpr std::size_t kBytesOfPlace = game::kGameBytes + sizeof(Seat);
  checkpoint::Bytes bytes(seats_.size() * kBytesOfPlace);
  std::span<std::byte> out = bytes;
  for (std::size_t i = 0; i < seats_.size(); ++i, out = out.subspan(kBytesOfPlace)) {
    game::write_game(arena_.game(static_cast<int>(i)), out.first<game::kGameBytes>());
    std::memcpy(&out[game::kGameBytes], &seats_[i], sizeof(Seat));
  }
  return bytes;
}

void SnakesGames::from_bytes(std::span<const std::byte> bytes) {
  constexpr std::size_t kBytesOfPlace = game::kGameBytes + sizeof(Seat);
  if (bytes.size() != seats_.size() * kBytesOfPlace) {
    throw CheckpointError(
        "the saved games have {} bytes, expected {} for {} games; set game.games as in the run "
        "that saved them",
        bytes.size(), seats_.size() * kBytesOfPlace, seats_.size());
  }
  // Checks all games before it restores the first one.
  std::vector<game::Game> games;
  std::vector<Seat> seats(seats_.size());
  for (Seat& seat : seats) {
    games.push_back(game::read_game(bytes.first<game::kGameBytes>()));
    std::memcpy(&seat, &bytes[game::kGameBytes], sizeof(Seat));
    check(seat);
    bytes = bytes.subspan(kBytesOfPlace);
  }
  for (std::size_t i = 0; i < games.size(); ++i) arena_.restore(static_cast<int>(i), games[i]);
  seats_ = std::move(seats);
}

/// Refuses impossible values, because a seat may come from a stranger's checkpoint.
void SnakesGames::check(const Seat& seat) {
  if (seat.side < game::kTeams &&
      (seat.opponent < game::kNumOpponents || seat.opponent == kPastSelf)) {
    return;
  }
  throw CheckpointError(
      "a saved game has side {} and opponent {}, expected sides below {} and opponents below {} or "
      "{}; use another checkpoint",
      seat.side, seat.opponent, game::kTeams, game::kNumOpponents, kPastSelf);
}

}  // namespace traffic::train::snakes
