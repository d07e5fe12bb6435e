/// Plays the games of a rank and returns their steps as streams of experience, one for each snake.
/// The agents are the three snakes of a game that the learner decides for. If game.learn_from_both
/// is set, the three opponents have streams as well. Call begin_round() once per round, then
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

/// Sums over games that have ended.
struct GameFigures {
  double games = 0.0;
  double score = 0.0;         ///< 1 for a win of the learner, 0.5 for a draw
  double own_length = 0.0;    ///< cells by which the learner's team grew
  double other_length = 0.0;  ///< cells by which the other team grew
};

class SnakesGames {
 public:
  /// The rank and the seed from which the random numbers of this rank's games derive.
  struct Place {
    int rank = 0;
    std::uint64_t seed = 0;  ///< seed of the run
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

  /// Begins all games of a new training.
  void start(const TrainingProgress& progress);
  /// Sets the progress of the training, on which the opponents of new games depend.
  void begin_round(const TrainingProgress& progress) { progress_ = progress; }

  /// Observations of all snakes, agents first: [2 * agents, obs_dim]. The rows of opponents are
  /// only written if the replay or a past self needs them. Valid until the next call.
  const torch::Tensor& observe();
  /// Chooses the opponents' actions, advances all games by a step, and replaces each game that is
  /// over by a new one. Call observe() before each call.
  /// @param agents [agents] actions of the agents: directions as the snakes see the board (turn.h)
  /// @param past_self earlier copy of the policy, which decides for opponents that are past selves
  void step(std::span<const std::uint8_t> agents, offpolicy::ActingNetwork& past_self);

  // Results of the last step for each stream. Actions are directions as the snakes see the board;
  // ends are replay::End.
  [[nodiscard]] std::span<const std::uint8_t> actions() const { return stream_actions_; }
  [[nodiscard]] std::span<const float> rewards() const { return stream_rewards_; }
  [[nodiscard]] std::span<const std::uint8_t> ends() const { return stream_ends_; }

  /// Sums over the games that ended since the last call.
  GameFigures take_figures();

  /// The whole state of the games.
  [[nodiscard]] checkpoint::Bytes to_bytes() const;
  /// Restores the state of to_bytes(). If it throws, the games are unchanged.
  /// @throws CheckpointError if the number of games differs, or if a game has an impossible state
  void from_bytes(std::span<const std::byte> bytes);

 private:
  static constexpr std::uint8_t kPastSelf = 255;
  /// The players of one of the games that are played at the same time.
  struct Seat {
    std::uint64_t games_before = 0;  ///< number of games begun so far in this place
    std::uint8_t side = 0;           ///< team of the learner, 0 or 1
    std::uint8_t opponent = 0;       ///< level of a script, or kPastSelf
    std::array<std::uint8_t, 6> unused{};
  };

  static void check(const Seat& seat);
  void begin_game(std::size_t game);
  void act(std::size_t game, int team, std::span<const std::uint8_t> seen,
           std::span<const Turn> turns);
  void choose_opponents(offpolicy::ActingNetwork& past_self);
  void choose_past_selves(offpolicy::ActingNetwork& past_self);
  [[nodiscard]] bool is_observed(std::size_t game, bool of_agent) const;
  void write_streams();
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
  torch::Tensor obs_;        ///< [2 * agents, obs_dim]: agents, then their opponents
  std::vector<Turn> turns_;  ///< [2 * agents] how each row of obs_ turns the board
  // Buffers for game::Arena::Step; actions are directions on the board.
  std::vector<std::uint8_t> actions_;         ///< [games, snakes]
  std::vector<float> rewards_;                ///< [games, snakes]
  std::vector<std::uint8_t> over_;            ///< [games]
  std::vector<std::uint8_t> died_;            ///< [games]
  std::vector<std::uint8_t> stream_actions_;  ///< [streams]
  std::vector<float> stream_rewards_;         ///< [streams]
  std::vector<std::uint8_t> stream_ends_;     ///< [streams]
  GameFigures figures_;
};

}  // namespace traffic::train::snakes
