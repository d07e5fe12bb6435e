/// The interface of the learners that train the policy of traffic lights: PpoLearner and QLearner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lights/light_histories.h"
#include "lights/mean_weights.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/report/metrics.h"
#include "traffic/train/monitor/watched_loss.h"
#include "traffic/train/run/training.h"

namespace traffic::train::lights {

/// The result of an iteration; equal on all ranks.
struct Learned {
  std::int64_t decisions = 0;  ///< number of new decisions of all ranks
  report::NamedValues metrics;
  std::optional<WatchedLoss> loss;  ///< nothing if no update was due yet
};

/// Trains the policy on the histories of episodes.
class Learner {
 public:
  Learner() = default;
  virtual ~Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  /// Called before the training episodes of an iteration. Q-learning sets how much the policy
  /// explores.
  /// @param decisions number of decisions of all ranks so far
  virtual void begin_iteration(std::int64_t /*decisions*/) {}
  /// Sets a factor on the learning rate. Called when the training returns to its best weights.
  virtual void set_step_factor(double /*factor*/) {}
  /// Discount of a control period.
  [[nodiscard]] virtual double gamma() const = 0;
  /// Learns from the episodes of an iteration. Collective.
  /// @param episodes histories of this rank
  /// @param num_episodes number of episodes of all ranks
  /// @return nothing if learning was abandoned because the user asked the program to stop
  /// @throws NumericError after too many steps in a row without a finite gradient
  virtual std::optional<Learned> learn(const std::vector<EpisodeHistory>& episodes,
                                       std::int64_t num_episodes, std::int64_t iteration) = 0;

  [[nodiscard]] virtual const comm::ParameterArena& parameters() const = 0;
  /// Gives the policy the weights that are evaluated and saved. Destroying the returned object
  /// restores the previous weights.
  [[nodiscard]] virtual WeightsInUse weights_in_use() const = 0;
  /// Number of optimiser steps that were skipped because a gradient was not finite.
  [[nodiscard]] virtual std::int64_t skipped_steps() const = 0;
  /// @see Training::bytes_of_parts
  [[nodiscard]] virtual std::int64_t bytes_of_parts() const { return 0; }
  /// @see Training::memory_needs
  [[nodiscard]] virtual MemoryNeeds memory_needs() const { return {}; }

  /// Loads the weights of a checkpoint, without the state of the optimiser.
  /// @throws CheckpointError if a part is missing or does not fit
  virtual void start_from(const checkpoint::Snapshot& snapshot) = 0;
  /// Loads everything that is needed to continue the training that saved the checkpoint.
  /// @throws CheckpointError if a part is missing or does not fit
  virtual void restore_from(const checkpoint::Snapshot& snapshot) = 0;
  virtual void save_to(checkpoint::Snapshot& snapshot) const = 0;
};

}  // namespace traffic::train::lights
