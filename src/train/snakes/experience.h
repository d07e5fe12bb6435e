/// What a rank lives through: its games, whom they are against, and the replay of them.
#pragma once

#include <cstdint>
#include <vector>

#include "offpolicy/mlp_learner.h"
#include "offpolicy/rank_replay.h"
#include "snakes/games.h"
#include "snakes/past_selves.h"
#include "traffic/core/time_split.h"

namespace traffic::train::snakes {

class Experience {
 public:
  struct Setting {
    const offpolicy::OffPolicy& learning;
    const Snakes& snakes;
    std::uint64_t seed = 0;  ///< of the run
    comm::Communicator& communicator;
    TimeSplit& time_split;
  };
  /// Collective. @param learner decides; it and what is in the setting outlive this
  /// @throws ResourceError if the replay does not fit into memory
  Experience(const Setting& setting, offpolicy::MlpLearner& learner);

  void start(TrainingProgress progress);
  void begin_round(TrainingProgress progress, std::int64_t round);
  /// Observe, act, step, push: all games by a step.
  void step(double epsilon);
  /// Keeps the policy as a past self, if it is time for it.
  void keep_self(std::int64_t episodes_before, std::int64_t episodes) {
    past_selves_.keep(episodes_before, episodes);
  }

  [[nodiscard]] offpolicy::RankReplay& replay() { return replay_; }
  [[nodiscard]] const offpolicy::RankReplay& replay() const { return replay_; }
  GameFigures take_figures() { return games_.take_figures(); }

  /// Collective.
  void save_to(checkpoint::Snapshot& snapshot) const;
  /// Collective. @throws CheckpointError
  void restore_from(const checkpoint::Snapshot& snapshot, const TrainingProgress& progress);

 private:
  void act(const torch::Tensor& obs, double epsilon);

  Setting setting_;
  offpolicy::MlpLearner& learner_;
  offpolicy::ActingNetwork acting_;
  SnakesGames games_;
  PastSelves past_selves_;
  offpolicy::RankReplay replay_;
  std::vector<std::uint8_t> actions_;  ///< of the agents
  std::vector<float> vectors_;         ///< of all streams
  std::int64_t steps_ = 0;             ///< of each game of this rank
};

}  // namespace traffic::train::snakes
