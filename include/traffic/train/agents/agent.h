/// The interface of an agent that learns in simulations of traffic, and the function that adds an
/// agent to the program. The shipped agents are the vehicles and the traffic lights; a program adds
/// others with add_agent() (docs/design/extending.md). The training collects episodes in which its
/// agents act. Each agent then learns from its own experience.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/config/config.h"
#include "traffic/core/time_split.h"
#include "traffic/report/metrics.h"
#include "traffic/report/summary.h"
#include "traffic/rollout/traffic/agent_format.h"
#include "traffic/train/monitor/watched_loss.h"
#include "traffic/train/rollouts/agent_in_episodes.h"
#include "traffic/train/rollouts/rollout_batch.h"
#include "traffic/train/run/run.h"
#include "traffic/train/run/training.h"

namespace traffic::train {

class Decider;
class Rollouts;
struct SelectionEvaluation;

/// The learning algorithm of a training. The values stand for the trainings ppo, ppo_constrained
/// and dqn.
enum class Algorithm : std::uint8_t { kPpo, kConstrainedPpo, kQLearning };

/// Progress of a training, equal on all ranks.
struct Progress {
  std::int64_t iteration = 0;      ///< number of iterations completed
  std::int64_t control_steps = 0;  ///< control steps of all ranks in these iterations
};

/// The result of Agent::learn() for one iteration, equal on all ranks.
struct Learned {
  report::NamedValues metrics = {};
  std::optional<WatchedLoss> loss = {};
};

/// An agent that acts in episodes and learns from them. Every rank has one object for each agent.
/// Functions that are not const may be collective, so all ranks must call them.
class Agent {
 public:
  Agent() = default;
  virtual ~Agent() = default;
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// The interface through which the agent acts in episodes; null for the vehicles, which have a
  /// decider() instead.
  [[nodiscard]] virtual AgentInEpisodes* in_episodes() { return nullptr; }
  /// The policy of the vehicles, for which the collector decides in batches; null for all other
  /// agents.
  [[nodiscard]] virtual const Decider* decider() const { return nullptr; }

  /// Called before the episodes of an iteration are collected.
  virtual void begin_iteration(const Progress& /*progress*/) {}
  /// Number of iterations at the start in which the agent imitates scripts. 0 means that it
  /// imitates nothing.
  [[nodiscard]] virtual std::int64_t imitation_end() const { return 0; }
  /// Learns from the episodes of an iteration.
  /// @return nothing if the agent gave up learning because a stop was requested
  /// @throws NumericError after too many steps in a row without a finite gradient
  virtual std::optional<Learned> learn(const RolloutBatch& batch, const Progress& progress) = 0;
  /// Runs `use`. Meanwhile the agent acts with the weights that evaluations use and checkpoints of
  /// the best policy contain; these may differ from the weights in training, for example as their
  /// average.
  virtual void with_evaluated_weights(const std::function<void()>& use) { use(); }
  /// Logs the agent's own metrics of an evaluation.
  virtual void log_evaluation(const SelectionEvaluation& /*evaluation*/,
                              std::int64_t /*iteration*/) const {}
  /// Multiplies the learning rate of learn() by a factor. The class ReturnPoint lowers it after a
  /// fall of the gain.
  virtual void set_step_factor(double /*factor*/) {}

  /// Loads the weights that a checkpoint of another run holds for this agent.
  /// @return the names of these weights, for a message; empty if the checkpoint holds none
  /// @throws CheckpointError if a weight does not fit the agent
  virtual std::string start_from(const checkpoint::Snapshot& snapshot) = 0;
  /// Called when a new run begins, after start_from() if the run starts from a checkpoint.
  virtual void start() {}
  /// Restores the whole state of the agent, to resume a run.
  /// @throws CheckpointError if a value of the state is missing or does not fit
  virtual void restore_from(const checkpoint::Snapshot& snapshot) = 0;
  virtual void save_to(checkpoint::Snapshot& snapshot) const = 0;
  /// Loads the weights of the best checkpoint of this run, for the final comparison.
  virtual void take_best(const checkpoint::Snapshot& snapshot) = 0;
  /// Saves the weights and the optimiser. The class ReturnPoint keeps this state from the best
  /// evaluation, to return to it with restore_learner().
  virtual void save_learner(checkpoint::Snapshot& /*snapshot*/) const {}
  virtual void restore_learner(const checkpoint::Snapshot& /*snapshot*/) {}

  /// The trained parameters, for checks that they are equal on all ranks.
  [[nodiscard]] virtual const comm::ParameterArena& parameters() const = 0;
  /// Whether the agent's networks are so small that additional threads slow them down.
  [[nodiscard]] virtual bool prefers_one_thread() const { return false; }
  /// Number of optimiser steps that were skipped because the gradient was not finite.
  [[nodiscard]] virtual std::int64_t skipped_steps() const = 0;
  /// Size in bytes of the files that the agent saves beside a checkpoint, such as its replay,
  /// summed over all ranks.
  [[nodiscard]] virtual std::int64_t bytes_of_parts() const { return 0; }
  [[nodiscard]] virtual MemoryNeeds memory_needs() const { return {}; }
  /// Adds the agent's own results to the summary at the end of a training.
  virtual void conclude(report::Summary& /*summary*/) const {}
};

/// The objects that all agents of a training share. They outlive the agents.
struct AgentContext {
  Run& run;
  Rollouts& rollouts;
  TimeSplit& time_split;
};

struct AgentRow {
  rollout::AgentFormat format;  ///< name, settings, and the agent's section in the messages to and
                                ///< from simulations
  /// Throws ConfigError if the agent cannot learn by the algorithm with these settings.
  std::function<void(const config::Config&, Algorithm)> check;
  /// Creates the agent. Collective.
  std::function<std::unique_ptr<Agent>(const AgentContext&, Algorithm)> make;
};

/// Allows the setting env.agents to name this agent. Call it before a configuration is read.
/// @throws Error if there is an agent of that name already
void add_agent(AgentRow row);

}  // namespace traffic::train
