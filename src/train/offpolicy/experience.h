/// What a rank lives through: its games, whom they are against, and the replay of them.
#pragma once

#include <cstdint>
#include <vector>

#include "offpolicy/batch_memory.h"
#include "offpolicy/games.h"
#include "offpolicy/learner.h"
#include "offpolicy/past_selves.h"
#include "offpolicy/replay_state.h"
#include "traffic/core/random_streams.h"
#include "traffic/core/time_split.h"
#include "traffic/replay/replay.h"

namespace traffic::train::offpolicy {

class Experience {
 public:
  struct Setting {
    const OffPolicy& learning;
    const Snakes& snakes;
    std::uint64_t seed = 0;  ///< of the run
    comm::Communicator& communicator;
    TimeSplit& time_split;
  };
  /// Collective. @param learner decides; it and what is in the setting outlive this
  /// @throws ResourceError if the replay does not fit into memory
  Experience(const Setting& setting, Learner& learner);

  void start(TrainingProgress progress);
  void begin_round(TrainingProgress progress, std::int64_t round);
  /// Observe, act, step, push: all games by a step.
  void step(double epsilon);
  /// Keeps the policy as a past self, if it is time for it.
  void keep_self(std::int64_t episodes_before, std::int64_t episodes) {
    past_selves_.keep(episodes_before, episodes);
  }

  [[nodiscard]] std::int64_t num_transitions() const { return replay_.size(); }
  /// Draws a batch of this rank, until the next one.
  const Batch& draw(Rng& rng);
  GameFigures take_figures() { return games_.take_figures(); }

  /// What parts beside a checkpoint come to, of all ranks.
  [[nodiscard]] std::int64_t bytes_of_parts() const {
    return replay_.options().bytes() * setting_.communicator.size();
  }
  /// Collective.
  void save_to(checkpoint::Snapshot& snapshot) const;
  /// Collective. @throws CheckpointError
  void restore_from(const checkpoint::Snapshot& snapshot, const TrainingProgress& progress);

  /// Random numbers of this rank.
  [[nodiscard]] Rng rng_of(RandomStream stream, std::int64_t number) const;

 private:
  [[nodiscard]] replay::ReplayOptions replay_options() const;
  void act(const torch::Tensor& obs, double epsilon);

  Setting setting_;
  Learner& learner_;
  ActingNetwork acting_;
  SnakesGames games_;
  PastSelves past_selves_;
  replay::Replay replay_;
  RankState rank_state_;
  BatchMemory batch_;
  std::vector<std::uint8_t> actions_;  ///< of the agents
  std::vector<float> vectors_;         ///< of all streams
  std::int64_t steps_ = 0;             ///< of each game of this rank
};

}  // namespace traffic::train::offpolicy
