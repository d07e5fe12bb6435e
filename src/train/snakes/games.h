/// The games of a rank as streams of experience: three snakes of each game that the learner decides
/// for and, with game.learn_from_both, the other three, too. A round is begin_round(), then
/// observe() and step() in turn.
#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "offpolicy/acting.h"
#include "snakes/observation.h"
#include "snakes/opponents.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/game/arena.h"

namespace traffic::train::snakes {

/// What games that have ended came to.
struct GameFigures {
  double games = 0.0;
  double score = 0.0;         ///< 1 a win, a half a draw
  double own_length = 0.0;    ///< of a team, beyond the one at the start
  double other_length = 0.0;  ///< likewise
};

class SnakesGames {
 public:
  struct Place {
    int rank = 0;
    std::uint64_t seed = 0;  ///< of the run
  };
  SnakesGames(const Snakes& settings, const Place& place);

  [[nodiscard]] std::int64_t num_games() const { return settings_.games; }
  [[nodiscard]] std::int64_t num_agents() const { return settings_.games * game::kTeamSnakes; }
  [[nodiscard]] std::int64_t num_streams() const {
    return num_agents() * (settings_.learn_from_both ? 2 : 1);
  }
  [[nodiscard]] offpolicy::Spaces spaces() const { return spaces_of(settings_); }
  static offpolicy::Spaces spaces_of(const Snakes& settings) {
    return {.obs_dim = Sight::of(settings).width(), .num_actions = game::kDirections};
  }

  /// Begins all games.
  void start(const TrainingProgress& progress);
  /// Games that begin from now on are drawn with this.
  void begin_round(const TrainingProgress& progress) { progress_ = progress; }

  /// What all streams see, agents first: [streams, obs_dim], valid until the next call.
  const torch::Tensor& observe();
  /// Decides for the opponents, moves all, begins games that are over anew.
  /// @param agents [agents] actions on what observe() showed first: directions as it was seen
  /// @param past_self decides for opponents that are none of the scripts
  void step(std::span<const std::uint8_t> agents, offpolicy::ActingNetwork& past_self);

  // Of the last step, for each stream; actions are directions as they were seen, ends as
  // replay::End.
  [[nodiscard]] std::span<const std::uint8_t> actions() const { return stream_actions_; }
  [[nodiscard]] std::span<const float> rewards() const { return stream_rewards_; }
  [[nodiscard]] std::span<const std::uint8_t> ends() const { return stream_ends_; }

  /// Since the last call.
  GameFigures take_figures();

  /// Everything that the games' future depends on.
  [[nodiscard]] checkpoint::Bytes to_bytes() const;
  /// The games are unchanged if it throws.
  /// @throws CheckpointError if the bytes are not of as many games, or if a game is impossible
  void from_bytes(std::span<const std::byte> bytes);

 private:
  static constexpr std::uint8_t kPastSelf = 255;
  /// Who plays in a game.
  struct Seat {
    std::uint64_t games_before = 0;  ///< in this place
    std::uint8_t side = 0;           ///< team of the learner
    std::uint8_t opponent = 0;       ///< level, or kPastSelf
    std::array<std::uint8_t, 6> unused{};
  };

  static void check(const Seat& seat);
  void begin_game(std::size_t game);
  void act(std::size_t game, int team, std::span<const std::uint8_t> seen,
           std::span<const Turn> turns);
  void choose_opponents(offpolicy::ActingNetwork& past_self);
  void choose_past_selves(offpolicy::ActingNetwork& past_self);
  [[nodiscard]] bool is_observed(std::size_t game, bool of_agent) const;
  void share_out();
  void end_games();
  [[nodiscard]] float reward_of(std::size_t game, int snake) const;
  [[nodiscard]] int team_of_stream(std::size_t game, bool is_agent) const {
    return is_agent ? seats_[game].side : 1 - seats_[game].side;
  }

  Snakes settings_;
  Place place_;
  TrainingProgress progress_;
  game::Arena arena_;
  std::vector<Seat> seats_;
  torch::Tensor obs_;                  ///< [2 agents, obs_dim]: agents, then their opponents
  std::vector<Turn> turns_;            ///< of the same
  std::vector<std::uint8_t> actions_;  ///< [games, snakes] as the arena has them, like the next
  std::vector<float> rewards_;
  std::vector<std::uint8_t> over_;
  std::vector<std::uint8_t> died_;
  std::vector<std::uint8_t> stream_actions_;
  std::vector<float> stream_rewards_;
  std::vector<std::uint8_t> stream_ends_;
  GameFigures figures_;
};

}  // namespace traffic::train::snakes
