/// The training in simulations of traffic, for any set of agents and any way of learning.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "agents/agent.h"
#include "agents/log.h"
#include "agents/return_point.h"
#include "rollouts/final_comparison.h"
#include "rollouts/rollouts.h"
#include "traffic/core/clock.h"
#include "traffic/train/run/run.h"
#include "traffic/train/run/training.h"

namespace traffic::train {

/// A way of learning.
enum class Algorithm : std::uint8_t { kPpo, kConstrainedPpo, kQLearning };

/// An iteration is: collect episodes or fragments of them, then every agent learns. Evaluations on
/// selection seeds choose the best checkpoint; a final comparison says what to use.
class ControllerTraining final : public Training {
 public:
  /// Starts the simulations and measures the baselines. Collective.
  /// @throws WorkerError, DataError
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
  /// The iteration after which every agent has stopped imitating.
  [[nodiscard]] std::int64_t imitation_end() const;
  /// Runs `use` while every agent acts with the weights that are evaluated.
  void with_evaluated_weights(const std::function<void()>& use);
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
  std::optional<ReturnPoint> return_point_;  ///< of trainings that may go back to the best
  Progress progress_;
  std::int64_t env_steps_ = 0;       ///< simulation steps of all ranks in training
  std::int64_t best_iteration_ = 0;  ///< after which the best weights stood
};

}  // namespace traffic::train
