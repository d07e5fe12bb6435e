/// An agent that learns in simulations of traffic: the vehicles or the traffic lights. The training
/// (training.h) collects episodes in which its agents act, and lets each of them learn from what it
/// experienced.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "rollouts/actors.h"
#include "rollouts/rollouts.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/report/metrics.h"
#include "traffic/report/summary.h"
#include "traffic/train/run/training.h"
#include "traffic/train/run/watched_loss.h"

namespace traffic::train {

/// How far a training has come; the same on all ranks.
struct Progress {
  std::int64_t iteration = 0;      ///< from 0
  std::int64_t control_steps = 0;  ///< of all ranks in the iterations before
};

/// The result of an agent's learning in an iteration; the same on all ranks.
struct Learned {
  report::NamedValues metrics = {};
  std::optional<WatchedLoss> loss = {};
};

/// There is one on each rank. Every function that is not const may be collective.
class Agent {
 public:
  Agent() = default;
  virtual ~Agent() = default;
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// Enters this agent into the list of those that the rank decides for.
  virtual void join(Actors& actors) = 0;

  /// Called before the episodes of an iteration are collected.
  virtual void begin_iteration(const Progress& /*progress*/) {}
  /// First iteration in which the agent itself acts. Before it, scripts act and are imitated.
  [[nodiscard]] virtual std::int64_t imitation_end() const { return 0; }
  /// Learns from the episodes of an iteration.
  /// @return nothing if it was given up because a stop is requested
  /// @throws NumericError after too many steps in a row without a finite gradient
  virtual std::optional<Learned> learn(const RolloutBatch& batch, const Progress& progress) = 0;
  /// Runs `use` while the agent acts with the weights that are evaluated and kept.
  virtual void with_evaluated_weights(const std::function<void()>& use) { use(); }
  /// Tells the log what only this agent knows of an evaluation.
  virtual void log_evaluation(const SelectionEvaluation& /*evaluation*/,
                              std::int64_t /*iteration*/) const {}
  /// Scales the steps of learn() from now on. @see ReturnPoint
  virtual void set_step_factor(double /*factor*/) {}

  /// Loads the weights that a checkpoint of another run holds for this agent.
  /// @return the names of these weights, for a message; empty if the checkpoint holds none
  /// @throws CheckpointError if a part does not fit
  virtual std::string start_from(const checkpoint::Snapshot& snapshot) = 0;
  /// Called when a new run begins, after start_from() if there was a checkpoint.
  virtual void start() {}
  /// @throws CheckpointError if a part is missing or does not fit
  virtual void restore_from(const checkpoint::Snapshot& snapshot) = 0;
  virtual void save_to(checkpoint::Snapshot& snapshot) const = 0;
  /// Takes the weights of the best checkpoint of this run, for the final comparison.
  virtual void take_best(const checkpoint::Snapshot& snapshot) = 0;
  /// The state that ReturnPoint keeps: the weights and the optimiser. Trainings that never return
  /// to the best do not call it.
  virtual void save_learner(checkpoint::Snapshot& /*snapshot*/) const {}
  virtual void restore_learner(const checkpoint::Snapshot& /*snapshot*/) {}

  /// The trained parameters, for the checks that all ranks have the same.
  [[nodiscard]] virtual const comm::ParameterArena& parameters() const = 0;
  /// Whether its network is so small that more threads slow it down.
  [[nodiscard]] virtual bool prefers_one_thread() const { return false; }
  [[nodiscard]] virtual std::int64_t skipped_steps() const = 0;
  [[nodiscard]] virtual std::int64_t bytes_of_parts() const { return 0; }
  [[nodiscard]] virtual MemoryNeeds memory_needs() const { return {}; }
  /// Adds the agent's own results at the end of a training.
  virtual void conclude(report::Summary& /*summary*/) const {}
};

}  // namespace traffic::train
