/// Collects the experience of a rank in the training `snakes`: plays games against opponents and
/// stores their steps in a replay.
#pragma once

#include <cstdint>
#include <vector>

#include "offpolicy/mlp_learner.h"
#include "offpolicy/rank_replay.h"
#include "snakes/games.h"
#include "snakes/past_selves.h"
#include "traffic/core/time_split.h"

namespace traffic::train::snakes {

/// The games, opponents and replay of a rank.
class Experience {
 public:
  struct Setting {
    const offpolicy::OffPolicy& learning;
    const Snakes& snakes;
    std::uint64_t seed = 0;  ///< seed of the run
    comm::Communicator& communicator;
    TimeSplit& time_split;
  };
  /// Collective.
  /// @param setting its references must outlive this object
  /// @param learner its policy plays; must outlive this object
  /// @throws ResourceError if the replay does not fit into memory
  Experience(const Setting& setting, offpolicy::MlpLearner& learner);

  /// Begins all games.
  void start(TrainingProgress progress);
  /// Begins a round of the training (one pass of iterate()). Picks the past self that plays in this
  /// round; past selves are earlier copies of the policy.
  void begin_round(TrainingProgress progress, std::int64_t round);
  /// Advances all games by one step and stores this step in the replay.
  /// @param epsilon probability of a random action
  void step(double epsilon);
  /// Stores a copy of the policy as a past self if one is due (game.pool_interval).
  /// @param episodes_before, episodes numbers of episodes of all ranks before and after the round
  void keep_self(std::int64_t episodes_before, std::int64_t episodes) {
    past_selves_.keep(episodes_before, episodes);
  }

  [[nodiscard]] offpolicy::RankReplay& replay() { return replay_; }
  [[nodiscard]] const offpolicy::RankReplay& replay() const { return replay_; }
  GameFigures take_figures() { return games_.take_figures(); }

  /// Collective.
  void save_to(checkpoint::Snapshot& snapshot) const;
  /// Collective. Begins new games if the number of ranks has changed.
  /// @throws CheckpointError if a part is missing or does not fit
  void restore_from(const checkpoint::Snapshot& snapshot, const TrainingProgress& progress);

 private:
  void act(const torch::Tensor& obs, double epsilon);

  Setting setting_;
  offpolicy::MlpLearner& learner_;
  offpolicy::ActingNetwork acting_;
  SnakesGames games_;
  PastSelves past_selves_;
  offpolicy::RankReplay replay_;
  std::vector<std::uint8_t> actions_;  ///< [agents]
  std::vector<float> vectors_;         ///< [streams, action_dim]
  std::int64_t steps_ = 0;             ///< number of calls of step() in the whole training
};

}  // namespace traffic::train::snakes
