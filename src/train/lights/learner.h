/// What learns from the episodes of traffic lights: by PPO or from a replay.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lights/light_histories.h"
#include "lights/mean_weights.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/report/metrics.h"
#include "traffic/train/run/training.h"
#include "traffic/train/run/watched_loss.h"

namespace traffic::train::lights {

/// What an iteration came to; equal on all ranks.
struct Learned {
  std::int64_t decisions = 0;  ///< of all ranks, new ones
  report::NamedValues metrics;
  std::optional<WatchedLoss> loss;  ///< nothing where there was nothing to learn from yet
};

class Learner {
 public:
  Learner() = default;
  virtual ~Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  /// Before the episodes that are learned from: how the policy draws its choices in them.
  /// @param decisions of all ranks so far
  virtual void begin_iteration(std::int64_t /*decisions*/) {}
  /// Scales the steps of learn() from now on, after training has gone back to the best.
  virtual void set_step_factor(double /*factor*/) {}
  /// Discount of a control period.
  [[nodiscard]] virtual double gamma() const = 0;
  /// Collective. @return nothing if it was given up because a stop is requested
  /// @throws NumericError after too many steps in a row without a finite gradient
  virtual std::optional<Learned> learn(const std::vector<EpisodeHistory>& episodes,
                                       std::int64_t num_episodes, std::int64_t iteration) = 0;

  [[nodiscard]] virtual const comm::ParameterArena& parameters() const = 0;
  /// Lets the policy act with the weights that are evaluated and kept, as long as the result lives.
  [[nodiscard]] virtual WeightsInUse weights_in_use() const = 0;
  [[nodiscard]] virtual std::int64_t skipped_steps() const = 0;
  /// As of a Training.
  [[nodiscard]] virtual std::int64_t bytes_of_parts() const { return 0; }
  [[nodiscard]] virtual MemoryNeeds memory_needs() const { return {}; }

  /// Weights, without what only this learning has.
  /// @throws CheckpointError if a part is missing or does not fit
  virtual void start_from(const checkpoint::Snapshot& snapshot) = 0;
  virtual void restore_from(const checkpoint::Snapshot& snapshot) = 0;
  virtual void save_to(checkpoint::Snapshot& snapshot) const = 0;
};

}  // namespace traffic::train::lights
