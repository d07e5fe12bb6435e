/// The training of controllers in simulations of traffic. It implements the trainings `ppo`,
/// `ppo_constrained` and `dqn` for all agents.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "agents/log.h"
#include "agents/return_point.h"
#include "rollouts/final_comparison.h"
#include "rollouts/rollouts.h"
#include "traffic/core/clock.h"
#include "traffic/train/agents/agent.h"
#include "traffic/train/run/run.h"
#include "traffic/train/run/training.h"

namespace traffic::train {

/// An iteration collects episodes or fragments of episodes, then lets every agent learn.
/// Evaluations on the selection seeds choose the best checkpoint. The final comparison recommends
/// this checkpoint or the script with which the training began.
class ControllerTraining final : public Training {
 public:
  /// Starts the simulations and measures the baselines. Collective.
  /// @throws WorkerError if simulations fail, DataError if files cannot be used
  ControllerTraining(Run& run, Algorithm algorithm);

  [[nodiscard]] TrainingUnits units() const override;
  [[nodiscard]] std::int64_t step() const override { return progress_.iteration; }
  [[nodiscard]] std::int64_t total_steps() const override;
  [[nodiscard]] bool time_is_over() const override;
  [[nodiscard]] const comm::ParameterArena& parameters() const override;
  [[nodiscard]] std::int64_t bytes_of_parts() const override;
  [[nodiscard]] MemoryNeeds memory_needs() const override;
  [[nodiscard]] std::string batch_text() const override;

  void start() override;
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void save_to(checkpoint::Snapshot& snapshot) const override;
  std::optional<Iteration> iterate() override;
  [[nodiscard]] bool start_is_candidate() const override;
  std::optional<Assessment> evaluate() override;
  void take_best(const checkpoint::Snapshot& snapshot) override;
  void conclude(report::Summary& summary) override;
  void count_faults(report::Summary& summary) const override;
  void close() override { rollouts_.close(); }

 private:
  void add_agents();
  /// The first iteration in which no agent imitates a script.
  [[nodiscard]] std::int64_t imitation_end() const;
  /// Runs `use` while every agent acts with the weights that are evaluated.
  void with_evaluated_weights(const std::function<void()>& use);
  /// Returns to the best controller. If training.max_rollbacks is reached, only warns.
  void go_back();

  Stopwatch clock_;
  Run& run_;
  const config::Config& config_;
  const Algorithm algorithm_;
  Rollouts rollouts_;
  std::vector<std::unique_ptr<Agent>> agents_;
  Actors actors_;
  ControllerLog log_;
  FinalComparison comparison_;
  std::optional<ReturnPoint> return_point_;  ///< not set with Q-learning, which never goes back
  Progress progress_;
  std::int64_t env_steps_ = 0;       ///< simulation steps of all ranks in training
  std::int64_t best_iteration_ = 0;  ///< number of iterations before the best checkpoint
};

}  // namespace traffic::train
